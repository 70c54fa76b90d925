/* What does not parse before the preprocessor has run. */
#include "export.h"

#ifdef __cplusplus
extern "C" {
#endif

LIBRARY_EXPORT int API_CALL first(void) UNUSED_RESULT {
    return setsid(); /* finds: new-session */
}

BEGIN_DECLS
static FORCE_INLINE int second(int a MAYBE_UNUSED) {
#ifdef OLD
    if (a) {
        setpgrp(); /* finds: process-group */
#else
    if (!a) {
        setsid(); /* finds: new-session */
#endif
    }
    return a;
}
END_DECLS

#ifdef __cplusplus
}
#endif
