#include "probe/resting_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "probe/live_jobs.h"

namespace fusescope {
namespace {

constexpr std::chrono::seconds kRestPatience{2};
/// If other jobs used a processor for more than this share of the measured time, the measurement counts as disturbed.
constexpr double kMostUsed = 0.02;

struct LiveList {
  std::mutex mutex;
  std::vector<std::shared_ptr<LiveProcess>> all;
};

LiveList& liveList() {
  static LiveList& list = *new LiveList;  // never destroyed, because jobs that end with the program still need it
  return list;
}

}  // namespace

bool LiveProcess::rest(bool on, std::optional<double>& usedMs) {
  if (!m_listener->isThere()) return false;
  m_listener->send({{"op", "rest"}, {"job", m_number}, {"on", on}});
  const auto until = Mailbox::Clock::now() + kRestPatience;
  for (;;) {
    const auto frame = m_mailbox->take({}, until);
    if (!frame.ok() || !frame.value()) return false;
    const Json& header = frame.value()->header;
    if (textOf(header, "event") == "ended") {
      m_mailbox->put(*frame.value());  // for the next thread that waits for it
      return false;
    }
    if (textOf(header, "event") != "rest" || header.value("on", Json()) != on) continue;
    const Json ms = header.value("ms", Json());
    usedMs = ms.is_number() ? std::optional(std::max(0.0, ms.get<double>())) : std::nullopt;
    return true;
  }
}

void addLiveProcess(const std::shared_ptr<LiveProcess>& process) {
  const std::scoped_lock lock(liveList().mutex);
  liveList().all.push_back(process);
}

void removeLiveProcess(const ProbeJob* job) {
  const std::scoped_lock lock(liveList().mutex);
  std::erase_if(liveList().all, [&](const auto& process) { return process->job() == job; });
}

std::vector<std::shared_ptr<LiveProcess>> liveProcesses() {
  const std::scoped_lock lock(liveList().mutex);
  return liveList().all;
}

bool RestReport::disturbed() const {
  return busy > 0 || usedMs > kMostUsed * wallMs;
}

std::string RestReport::inWords() const {
  std::string text;
  const auto processes = [](int count) { return count == 1 ? "1 process" : fmt::format("{} processes", count); };
  if (jobs > 0)
    text = fmt::format(
        "{} of compilers {} suspended meanwhile and used {}", processes(jobs), jobs == 1 ? "was" : "were",
        unmeasured == jobs ? "an unknown processor time" : fmt::format("{:.3g} ms of processor time", usedMs));
  if (busy > 0)
    text +=
        fmt::format("{}{} of compilers worked for other commands meanwhile", text.empty() ? "" : "; ", processes(busy));
  return text;
}

namespace {

thread_local RestWatch* watch = nullptr;

}  // namespace

RestWatch::RestWatch() : m_around(std::exchange(watch, this)) {}

RestWatch::~RestWatch() {
  watch = m_around;
}

struct OthersAtRest::Resting {
  explicit Resting(std::shared_ptr<LiveProcess> of) : process(std::move(of)), use(process->use(), std::try_to_lock) {}
  std::shared_ptr<LiveProcess> process;
  std::unique_lock<std::mutex> use;
};

OthersAtRest::OthersAtRest(const ProbeJob* timed) {
  for (std::shared_ptr<LiveProcess>& process : liveProcesses()) {
    if (process->job() == timed) continue;
    auto resting = std::make_unique<Resting>(std::move(process));
    std::optional<double> unused;
    if (!resting->use.owns_lock()) {
      ++m_report.busy;
    } else if (resting->process->rest(true, unused)) {
      m_resting.push_back(std::move(resting));
    }
  }
  m_since = std::chrono::steady_clock::now();
}

OthersAtRest::~OthersAtRest() {
  end();
}

RestReport OthersAtRest::end() {
  if (std::exchange(m_isEnded, true)) return m_report;
  m_report.wallMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - m_since).count();
  for (const auto& resting : m_resting) {
    std::optional<double> usedMs;
    if (!resting->process->rest(false, usedMs)) continue;
    ++m_report.jobs;
    if (usedMs) {
      m_report.usedMs += *usedMs;
    } else {
      ++m_report.unmeasured;
    }
  }
  m_resting.clear();
  for (RestWatch* each = watch; each != nullptr; each = each->m_around) {
    RestReport& sum = each->m_sum;
    sum.jobs = std::max(sum.jobs, m_report.jobs);
    sum.busy = std::max(sum.busy, m_report.busy);
    sum.unmeasured = std::max(sum.unmeasured, m_report.unmeasured);
    sum.usedMs += m_report.usedMs;
    sum.wallMs += m_report.wallMs;
  }
  return m_report;
}

}  // namespace fusescope
