#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/run.h"

namespace fusescope {

/// Is what a run calculates close enough to float32?
struct Verdict {
  enum class Kind { Pass, Fail, Unknown };
  Kind kind = Kind::Unknown;
  std::string output;           ///< the worst of the network's outputs
  double error = 0;             ///< of that output: max|Δ| over rms; infinite where a number became none
  bool notFinite = false;       ///< that output became infinite or NaN
  double ofBound = 0;           ///< the share of the bound that it takes: 1 is just within, 12 is twelve times too much
  std::string problem;          ///< of that output, where it cannot be compared at all
  std::string firstWrong;       ///< of a failure: the value where it first goes wrong, in the order of the graph
  bool firstNotFinite = false;  ///< at that value a number became infinite or NaN
  std::int64_t samples = 0;     ///< that it was evaluated on; 0: an older file did not say
  std::int64_t failing = 0;     ///< of them
  std::string sample;           ///< on which that output is worst
  std::string unknownWhy;       ///< for people
};

/// By what numbers of `artifact` are judged where a command is given no bounds: by those of the session that it is of,
/// else by Tolerance::ofLoweredTypes(), with which a session begins. One answer for all commands and for the window.
Tolerance toleranceOf(const Artifact& artifact);
/// Sets the tolerance of a session. What a search for pins was to reach follows, where that was the tolerance before:
/// an error of another size, or in the unit of a metric, stays as the user gave it.
void setTolerance(RunSettings& settings, const Tolerance& tolerance);
/// Where the errors of an evaluation first break `tolerance`: the first value that is not finite where float32 is, else
/// the first that is out of bounds; empty if none is. Only those count from which the error reaches an output. Pure.
Verdict verdictOf(const Evaluation& evaluation, const Tolerance& tolerance);
/// Each sample of an evaluation by itself, in their order: without firstWrong. Pure.
struct SampleVerdict {
  std::string sample;
  Verdict verdict;
};
std::vector<SampleVerdict> sampleVerdicts(const Evaluation& evaluation, const Tolerance& tolerance);
/// The evaluation of a run that speaks of `settings`: the newest on their inputs that can be judged by their tolerance,
/// else the newest on them, else the newest; null while it is not evaluated.
const Evaluation* evaluationFor(const Run& run, const RunSettings& settings);
/// Errors layer by layer likewise: the newest on the inputs of `settings` against what they say, else the newest on
/// these inputs, else the newest; null while there are none.
const RunErrors* errorsFor(const Run& run, const RunSettings& settings);
/// Of that evaluation; unknown while there is none.
Verdict verdictOf(const Run& run, const RunSettings& settings);
/// "max|Δ| at most 0.001 of rms".
std::string inWords(const Tolerance& tolerance);
/// "passes on 8 samples: worst is y on s_2, at 0.2 of what is allowed", "fails on 3 of 8 samples: y is 12 times over
/// what is allowed on s_2; first out of bounds at v".
std::string inWords(const Verdict& verdict);
Json toJson(const Verdict& verdict);

}  // namespace fusescope
