#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/stop.h"
#include "probe/environment.h"
#include "probe/probe_options.h"

namespace fusescope {

/// What a compiler is asked. Operations and their fields: core/probe/PROTOCOL.md.
struct ProbeRequest {
  Json json;  ///< an object with "op"
  std::map<std::string, std::filesystem::path>
      files;  ///< the name that the probe knows a file by -> where it lies here
  /// Where the files of the answer go; it must be there. Empty: they lie in a folder that goes with the job.
  std::filesystem::path folder{};
};

struct ProbeAnswer {
  Json json;  ///< an object
  std::map<std::string, std::filesystem::path>
      files;  ///< what the compiler wrote: its name there -> where it lies here
};

/// A compiler in an environment: a process there that imported it and answers requests, one after another. It ends with
/// this object. For one caller at a time.
class ProbeJob {
 public:
  /// Starts the environment's listener or takes the one that runs, starts a process for `compiler` there, and has it
  /// import the compiler. Errors say what to do: a command that the user has not confirmed, everything that a bad
  /// environment may be, no package, a broken package; cancelled.
  static Result<std::unique_ptr<ProbeJob>> start(const Environment& environment, std::string_view compiler,
                                                 const StopToken& stop, const ProbeOptions& options = {});
  virtual ~ProbeJob() = default;

  /// What the compiler said when it was opened: {version, devices[], about{}}.
  virtual const Json& opened() const = 0;
  /// Errors: what the compiler refused, in its own words; the process or the connection broke, with the end of what it
  /// printed; cancelled. A cancelled request ends the job's process at once, whatever it does.
  virtual Result<ProbeAnswer> ask(const ProbeRequest& request, const StopToken& stop,
                                  const Progress& progress = {}) = 0;
  /// Whether its process is on this machine and sees the files of this one.
  virtual bool isLocal() const { return false; }
  /// False once its process has ended.
  virtual bool isThere() const = 0;
};

}  // namespace fusescope
