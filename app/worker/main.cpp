// The process that builds, runs and measures for the window, so that a crash in this work cannot end the window.
// PROTOCOL.md describes the lines of JSON on its standard input and output.
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "app/worker/do_work.h"
#include "app/worker/engine_shelf.h"
#include "app/worker/line_channel.h"
#include "app/worker/request_queue.h"
#include "cache/process_store.h"
#include "session/process_start.h"
#include "session/progress_limiter.h"
#include "session/worker_protocol.h"

namespace fusescope::worker {
namespace {

/// The time that running work has to notice a stop after the other side has closed.
constexpr std::chrono::seconds kGrace{1};

void answer(LineChannel& channel, std::int64_t id, Diagnostic error) {
  channel.write(workerLine(toJson(WorkerEvent{.id = id, .kind = WorkerEventKind::Error, .error = std::move(error)})));
}

/// Reads requests until the other side closes the input or sends shutdown. Ends the process if the running work does
/// not stop in time.
void readRequests(LineChannel& channel, RequestQueue& queue) {
  while (auto line = channel.read()) {
    if (line->find_first_not_of(" \t\r") == std::string::npos) continue;
    auto request = parseWorkerRequest(*line);
    if (!request.ok()) {
      answer(channel, workerRequestId(*line), std::move(request).error());
      continue;
    }
    if (request.value().is<ShutdownSettings>()) break;
    const auto* cancel = std::get_if<CancelSettings>(&request.value().settings);
    if (cancel == nullptr) {
      queue.add(std::move(request).value());
    } else if (queue.cancel(cancel->cancels)) {
      answer(channel, cancel->cancels, Diagnostic::cancellation());
    }
  }
  queue.close();
  std::this_thread::sleep_for(kGrace);
  std::_Exit(0);
}

/// Works on one request. Exceptions of libraries end here and become an error of the request.
WorkerEvent handled(const RequestQueue::Taken& taken, EngineShelf& shelf, const Progress& progress) {
  WorkerEvent event{.id = taken.request.id, .kind = WorkerEventKind::Error};
  try {
    auto result = doWork(taken.request, shelf, taken.stop, progress);
    if (result.ok()) {
      event.kind = WorkerEventKind::Done;
      event.result = std::move(result).value();
    } else {
      event.error = std::move(result).error();
    }
  } catch (const std::exception& error) {
    event.error = {.message = std::string("unexpected: ") + error.what(), .where = {.file = taken.request.source.path}};
  }
  return event;
}

void work(LineChannel& channel, RequestQueue& queue) {
  EngineShelf shelf;
  while (const auto taken = queue.take()) {
    WorkerEvent end;
    {
      ProgressLimiter limiter([&](const std::string& phase, const std::string& detail) {
        channel.write(workerLine(toJson(WorkerEvent{
            .id = taken->request.id, .kind = WorkerEventKind::Progress, .phase = phase, .detail = detail})));
      });
      end = handled(*taken, shelf,
                    [&](std::string_view phase, std::string_view detail) { limiter.report(phase, detail); });
    }
    channel.write(workerLine(toJson(end)));
  }
}

}  // namespace
}  // namespace fusescope::worker

int main(int, char** argv) {
  using namespace fusescope::worker;
  fusescope::restartWithPatientThreads(argv);
  fusescope::useStore(fusescope::CacheMode::Write);
  LineChannel channel;
  RequestQueue queue;
  std::thread([&] { readRequests(channel, queue); }).detach();
  work(channel, queue);
  std::_Exit(0);  // ends without waiting for the reading thread, which may still be blocked in reading a line
}
