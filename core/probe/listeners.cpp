#include "probe/listeners.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "probe/environments.h"

namespace fusescope {
namespace {

using namespace std::chrono_literals;

/// A start that failed. Whoever asks again before `until` gets the same error: a command that does not answer for 20 s
/// would otherwise be waited for by everyone who asks, one after the other. The error is remembered for as long as the
/// attempt took, so that a command that fails at once can be started again at once.
struct FailedStart {
  Diagnostic error;
  std::chrono::steady_clock::time_point until;
};

/// The listener of one command. A thread that starts it holds the lock until it has started.
struct Place {
  std::timed_mutex mutex;
  std::shared_ptr<Listener> listener;
  std::optional<FailedStart> failed;
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
    const auto start = std::chrono::steady_clock::now();
    if (place->failed && start < place->failed->until) return place->failed->error;
    place->listener.reset();
    place->failed.reset();
    auto started = Listener::start(environment, options, stop);
    const auto end = std::chrono::steady_clock::now();
    if (!started.ok() && !started.error().cancelled)
      place->failed = FailedStart{.error = started.error(), .until = end + (end - start)};
    place->listener = TRY(std::move(started));
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
