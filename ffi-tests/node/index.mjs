import library from './index.js';

export const {
  HermesError,
  OwnedChild,
  configure,
  ownProcessGroups,
  releaseProcessGroupOnceEmpty,
  releaseProcessGroups,
  spawnOwned,
  status,
  version,
} = library;
export default library;
