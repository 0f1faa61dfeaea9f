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

/// Writes a job file, which needs no connection: `python3 job.pyz` opens `compiler`, asks it all `requests`, and writes
/// result.zip beside the file. Files that several requests share are stored once. `asked` contains notes of the caller,
/// which are returned in the result. Returns the id of the job, by which its result is recognised. Errors: a file of a
/// request cannot be read, the job cannot be written; cancelled.
Result<std::string> packJob(std::string_view compiler, const std::vector<ProbeRequest>& requests,
                            const std::filesystem::path& path, const StopToken& stop, const ProbeOptions& options = {},
                            const Json& asked = nullptr);

/// What the result of a job file says about where it ran and what it contains.
struct JobResult {
  std::string job;            ///< the id that packJob() returned
  std::string compiler;       ///< "onnxruntime"
  Json hello;                 ///< what a listener in that environment would have answered
  std::string finished;       ///< when it was written: UTC by the clock of the machine where it ran, in the form of
                              ///< Run::started
  Json asked;                 ///< the notes that were passed to packJob(); not trusted
  std::set<std::string> ops;  ///< the operations of the job's requests
  /// Returns the recorded answers as a live probe would: ask() finds the answer to a request with the same JSON and the
  /// same files. Durations and numbers of threads are those of the job. A request that was not part of the job is
  /// refused.
  std::unique_ptr<ProbeJob> probe;
};

/// Opens a result. The file is not trusted. `job` is the id that it must have; empty: any. Errors: it is not a result,
/// belongs to another job, has an unsupported version, or is damaged; the compiler could not be opened there (the error
/// contains its words).
Result<JobResult> openJobResult(const std::filesystem::path& path, std::string_view job = {});

}  // namespace fusescope
