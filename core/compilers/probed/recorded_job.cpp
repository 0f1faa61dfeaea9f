#include "compilers/probed/recorded_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/frames.h"
#include "probe/job_file.h"

namespace fusescope {
namespace {

/// Returns the op of a job that answers a question about this ability; empty if none does.
std::string_view opOf(Ability ability) {
  switch (ability) {
    case Ability::Support:
      return "support";
    case Ability::Compile:
    case Ability::ReadBack:
      return "compile";
    case Ability::Run:
      return "run";
    case Ability::Time:
      return "time";
    case Ability::Profile:
      return "profile";
    case Ability::InnerValues:
    case Ability::Keep:
      return {};
  }
  return {};
}

/// Returns the number of threads that another machine reports, limited to sensible numbers.
int threadsIn(const Json& asked, const Json& hello) {
  constexpr std::uint64_t kMost = 4096;
  const std::uint64_t given = countOf(asked, "threads");
  return static_cast<int>(std::clamp<std::uint64_t>(given > 0 ? given : countOf(hello, "cpus"), 1, kMost));
}

}  // namespace

std::string RecordedJob::inWords() const {
  return fmt::format(
      "measured on {} ({}) in the job that ended {}", machine.empty() ? "a machine without a name" : machine,
      platform.empty() ? "unknown system" : platform, finished.empty() ? "at an unknown time" : finished);
}

std::string RecordedJob::whyNot(Ability ability) const {
  const std::string_view op = opOf(ability);
  if (op.empty() || ops.contains(std::string(op))) return {};
  return fmt::format("The job does not contain the question \"{}\": pack it again with --do {}.", op, op);
}

bool isJobResult(std::string_view environment) {
  return environment.ends_with(".zip");
}

Result<RecordedJob> readRecordedJob(const std::string& path, std::string_view kind) {
  const FileIdentity identity = TRY(identityOf(path));
  const JobResult result = TRY(openJobResult(path));
  if (result.compiler != kind)
    return Diagnostic{.message = fmt::format("this is the result of a job for {}, not for {}", result.compiler, kind),
                      .where = {.file = path},
                      .help = fmt::format("Give it as the compiler {}@{}, or open it with: fusescope probe open {}",
                                          result.compiler, path, path)};
  return RecordedJob{.file = identity,
                     .machine = textOf(result.hello, "machine"),
                     .platform = textOf(result.hello, "platform"),
                     .python = textOf(result.hello, "python"),
                     .finished = result.finished,
                     .version = textOf(result.probe->opened(), "version"),
                     .threads = threadsIn(result.asked, result.hello),
                     .ops = result.ops,
                     .asked = result.asked};
}

}  // namespace fusescope
