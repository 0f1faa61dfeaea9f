#include "probe/listeners.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <vector>

#include "probe/environments.h"

namespace fusescope {
namespace {

using namespace std::chrono_literals;

/// The listener of one command. A thread that starts it holds the lock until it has started.
struct Place {
  std::timed_mutex mutex;
  std::shared_ptr<Listener> listener;
};

struct Places {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Place>> byCommand;
};

Places& places() {
  static Places all;
  return all;
}

}  // namespace

Result<std::shared_ptr<Listener>> listenerIn(const Environment& environment, const ProbeOptions& options,
                                             const StopToken& stop) {
  if (!isConfirmed(environment.command))
    return Diagnostic{
        .message = fmt::format("the command \"{}\" was not confirmed on this machine, so it is not started",
                               environment.command),
        .where = {.attribute = "command"},
        .help = "Read the command, and if you trust it, add it to your environments."};
  std::shared_ptr<Place> place;
  {
    const std::lock_guard lock(places().mutex);
    auto& entry = places().byCommand[environment.command];
    if (!entry) entry = std::make_shared<Place>();
    place = entry;
  }
  std::unique_lock lock(place->mutex, std::defer_lock);
  while (!lock.try_lock_for(20ms)) TRY(checkStop(stop));
  if (!place->listener || !place->listener->isThere()) {
    place->listener.reset();
    place->listener = TRY(Listener::start(environment, options, stop));
  }
  return place->listener;
}

void endIdleListeners() {
  std::vector<std::shared_ptr<Place>> all;
  {
    const std::lock_guard lock(places().mutex);
    for (const auto& [command, place] : places().byCommand) all.push_back(place);
  }
  for (const auto& place : all) {
    const std::lock_guard lock(place->mutex);
    if (place->listener.use_count() == 1) place->listener.reset();
  }
}

}  // namespace fusescope
