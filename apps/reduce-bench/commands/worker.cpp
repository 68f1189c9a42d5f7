// reduce-bench worker: the process in which `run` and `verify` let points run; not for users.

#include "worker/worker.hpp"

#include "commands/commands.hpp"
#include "common/error.hpp"
#include "common/names.hpp"
#include "worker/serve.hpp"

namespace reduce_bench {

void add_worker(CLI::App& app, Action& action) {
  struct Options {
    std::string backend;
    int device = 0, parent = 0;
    PluginFile plugin;
    Ranks ranks;
    std::string socket;
  };
  auto* command =
      app.add_subcommand(std::string(kWorkerCommand), "Started by the other commands")->group("");
  auto o = std::make_shared<Options>();
  command->add_option("--backend", o->backend)->required()->check(CLI::IsMember(kBackendNames));
  command->add_option("--device", o->device)->required();
  command->add_option("--parent", o->parent)->required();
  command->add_option("--plugin", o->plugin.path);
  command->add_option("--checksum", o->plugin.checksum);
  command->add_option("--ranks", o->ranks.count);
  command->add_option("--hosts", o->ranks.hosts);
  command->add_option("--socket", o->socket);
  command->callback([=, &action] {
    action = [=]() -> int {
      const auto backend = static_cast<Backend>(*find_name(kBackendNames, o->backend));
      if (o->ranks.count > 1)
        start_ranks(o->ranks, o->parent,
                    {std::string(kWorkerCommand), "--backend", o->backend, "--device",
                     std::to_string(o->device), "--parent", "0", "--socket", o->socket});
      if (!o->socket.empty()) return serve_as_rank(backend, o->device, o->socket);
      return serve_as_worker(backend, o->device, o->parent, o->plugin);
    };
  });
}

}  // namespace reduce_bench
