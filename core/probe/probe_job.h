#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/stop.h"
#include "probe/environment.h"
#include "probe/probe_options.h"
#include "probe/probe_request.h"

namespace fusescope {

/// What is calculated from the answers to several questions.
struct AnswerEvaluation {
  std::string what;  ///< everything besides the questions on which the result depends, with the version of the code
  std::function<Status(const ProbeAnswer& answer)> take;  ///< is given each answer before the next question is asked
  std::function<Result<Json>()> result;                   ///< is called after the last answer
};

/// A compiler in an environment: a process there that imported it and answers requests, one after another. It ends with
/// this object. It may be used by one caller at a time.
class ProbeJob {
 public:
  /// Starts the environment's listener, or uses the running one, starts a process for `compiler` there, and lets it
  /// import the compiler. Errors say what to do: the user has not confirmed the command, the environment cannot be
  /// used, the package is missing or broken; cancelled.
  static Result<std::unique_ptr<ProbeJob>> start(const Environment& environment, std::string_view compiler,
                                                 const StopToken& stop, const ProbeOptions& options = {});
  virtual ~ProbeJob() = default;

  /// Returns what the compiler answered when it was opened: {version, devices[], about{}}.
  virtual const Json& opened() const = 0;
  /// Asks the compiler. Errors: what the compiler refused, in its own words; the process or the connection ended, with
  /// the end of its output; cancelled. Cancelling ends the job's process at once, whatever it does.
  virtual Result<ProbeAnswer> ask(const ProbeRequest& request, const StopToken& stop,
                                  const Progress& progress = {}) = 0;
  /// Asks the questions one after another and returns what `evaluation` makes of the answers. A job that keeps answers
  /// keeps this result instead of them. Errors: those of ask() and of the evaluation.
  virtual Result<Json> evaluated(const std::vector<ProbeRequest>& questions, const AnswerEvaluation& evaluation,
                                 const StopToken& stop);
  /// Returns whether its process is on this machine and sees the files of this one.
  virtual bool isLocal() const { return false; }
  /// Returns false after its process ended.
  virtual bool isThere() const = 0;
};

}  // namespace fusescope
