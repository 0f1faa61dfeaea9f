#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "probe/probe_job.h"

namespace fusescope {

/// Writes a file that does without a connection: `python3 job.pyz` asks `compiler` for all `requests`, after it was
/// opened, and writes result.zip beside the file. Files that several requests have are in it once. `asked` is what the
/// caller notes for itself: it is in the job, and comes back in the result. Returns the job's id, by which its result
/// is known. Errors: a file of a request cannot be read, the job cannot be written; cancelled.
Result<std::string> packJob(std::string_view compiler, const std::vector<ProbeRequest>& requests,
                            const std::filesystem::path& path, const StopToken& stop, const ProbeOptions& options = {},
                            const Json& asked = nullptr);

/// What a job file's result says of where it ran and what it holds.
struct JobResult {
  std::string job;       ///< the id that packJob() gave
  std::string compiler;  ///< "onnxruntime"
  Json hello;            ///< what a listener would have said of that environment
  std::string finished;  ///< when it was written, by the clock of the machine where it ran: UTC, as in Run::started
  Json asked;            ///< what packJob() was told to note; not trusted
  std::set<std::string> ops;  ///< of the requests that the job had
  /// Gives the answers that a live probe gave there: ask() finds the answer to a request of the same JSON and the same
  /// files; how long was measured and by how many threads is as the job had it. A request that was not part of the job
  /// is refused.
  std::unique_ptr<ProbeJob> probe;
};

/// Opens a result. The file is not trusted. `job`: the id that it must have; empty: any. Errors: it is no result,
/// another job's, of a version that cannot be read, damaged; the compiler could not be opened there, with what it said.
Result<JobResult> openJobResult(const std::filesystem::path& path, std::string_view job = {});

}  // namespace fusescope
