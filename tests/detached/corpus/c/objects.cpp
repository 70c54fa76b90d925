// std::system("nohup x &") is only talked about.
#include <cstdlib>
#include <unistd.h>

constexpr short flags = POSIX_SPAWN_SETSID;
namespace server {
template <typename T> class Starter {
  public:
    void start() {
        ::setsid(); // finds: new-session
        std::system("nohup server"); // finds: detaching-command
        QProcess::startDetached("server"); // finds: daemon
        process->startDetached(); // finds: daemon
        auto hook = [] { setpgid(0, 0); }; // finds: process-group
        posix_spawnattr_setflags(&attributes, static_cast<short>(flags)); // finds: spawn-attributes
        std::system(R"(server &)"); // finds: background-job
        auto text = R"(setsid(); nohup x &)";
        object.setsid();
        other.clone(a, b, c, d);
    }
};
} // namespace server
