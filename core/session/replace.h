#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "session/runs/recorded_values.h"

namespace fusescope {

/// A node in a report, with enough detail to write it again.
struct ListedNode {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;
};

/// One place where a rule was applied.
struct Replacement {
  std::string rule;                   ///< its name
  std::vector<ListedNode> gone;       ///< nodes that were removed
  std::vector<ListedNode> made;       ///< nodes that were added
  std::string undo;                   ///< RULE@ARGUMENT that undoes it in the new network; empty: there is no such rule
  std::vector<std::string> around{};  ///< nodes that stay and whose kernels may have changed
  std::vector<std::string> kernelsBefore, kernelsAfter;  ///< kernels of the plan that contain removed or added nodes
};

/// Totals of a cover.
struct CoverTotals {
  std::int64_t kernels = 0;
  std::optional<double> predictedMs;
  std::optional<double> medianMs{};  ///< set if ReplaceOptions::seconds is; the faster of two turns
};

/// A network with substitutions. Nothing is written yet.
struct ReplacedNetwork {
  std::vector<Replacement> replacements;
  std::int64_t opsetBefore = 0, opsetAfter = 0;
  CoverTotals before, after;              ///< totals of the plan, or of what another compiler made
  std::vector<TensorComparison> outputs;  ///< outputs compared with those of the original network; for each the worst
                                          ///< sample
  Tolerance tolerance;
  std::vector<std::string> samples;
  bool randomInputs = false;
  std::vector<std::string> notes;
  std::optional<Diagnostic> failedCheck;  ///< the outputs are outside the tolerance, so that nothing may be written
  std::function<Status()> save;           ///< writes the network, and its weights if they are in a file beside it
};

struct ReplaceOptions {
  std::filesystem::path path;           ///< the file to write
  Tolerance tolerance = {.rms = 1e-4};  ///< the allowed difference of outputs from those of the original network
  double seconds = 0;                   ///< how long each network is timed, in two turns; 0: not timed
  bool readsBack = false;               ///< true: kernels are those that the compiler of the artifact makes
  RecordingOptions run{};
};

/// Applies `rules` one after another, each "RULE", "RULE@PATTERN" or "RULE@VALUE", to the file of `artifact`, runs both
/// networks on `samples` and compares the outputs. Errors: a rule that applies nowhere, unknown rules (the nearest are
/// suggested), and operators that cannot be written at the opset that a rule needs.
Result<ReplacedNetwork> replaceIn(const Artifact& artifact, const std::vector<std::string>& rules,
                                  const Samples& samples, const ReplaceOptions& options);

/// Returns {format: "fusescope.replacement", version, path, ok, replacements[{rule, gone[…], made[…], undo,
/// kernels_before[], kernels_after[]}], opset{before, after}, kernels{before, after}, predicted_ms{before, after},
/// median_ms{before, after}, outputs[…], allowed, samples[], random_inputs, notes[]}.
Json toJson(const ReplacedNetwork& network, const std::filesystem::path& path);
/// Returns the JSON of `replace --list`: {format: "fusescope.rules", version, rules[{name, summary, inverse, argument,
/// opset}]}.
Json substitutionsJson();

}  // namespace fusescope
