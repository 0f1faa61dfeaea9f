#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/recorded_values.h"
#include "session/session.h"

namespace fusescope {

/// A node as a report lists it: enough to write it again.
struct ListedNode {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;
};

/// One place where a rule was applied.
struct Replacement {
  std::string rule;                   ///< its name
  std::vector<ListedNode> gone;       ///< nodes that went
  std::vector<ListedNode> made;       ///< nodes that stand there now
  std::string undo;                   ///< RULE@ARGUMENT, which undoes it in the new network; empty: no rule does
  std::vector<std::string> around{};  ///< nodes that stay and whose kernels may be others now
  std::vector<std::string> kernelsBefore, kernelsAfter;  ///< of the plan, that hold nodes of either
};

/// What a cover comes to.
struct CoverTotals {
  std::int64_t kernels = 0;
  std::optional<double> predictedMs;
  std::optional<double> medianMs{};  ///< where ReplaceOptions::seconds asks for it: of the faster of two turns
};

/// A network with substitutions. Nothing is written yet.
struct ReplacedNetwork {
  std::vector<Replacement> replacements;
  std::int64_t opsetBefore = 0, opsetAfter = 0;
  CoverTotals before, after;              ///< of the plan, or of what another compiler made
  std::vector<TensorComparison> outputs;  ///< against those of the network before, of each the worst sample
  Tolerance tolerance;
  std::vector<std::string> samples;
  bool randomInputs = false;
  std::vector<std::string> notes;
  std::optional<Diagnostic> doesNotHold;  ///< the outputs are not equal: nothing may be written
  std::function<Status()> save;           ///< writes the network, and its weights where they lie beside it
};

struct ReplaceOptions {
  std::filesystem::path path;           ///< to be written
  Tolerance tolerance = {.rms = 1e-4};  ///< how far outputs may be from those of the network before
  double seconds = 0;                   ///< for which each network is timed, in two turns; 0: none is
  bool readsBack = false;               ///< kernels are those that the compiler of the artifact makes
  RecordingOptions run{};
};

/// Applies `rules` one after another, each "RULE", "RULE@PATTERN" or "RULE@VALUE", to the file of `artifact`, runs both
/// networks on `samples` and compares. A rule without a site is an error, as are unknown rules (the nearest are named),
/// and operators that cannot be written at the opset that a rule needs.
Result<ReplacedNetwork> replaceIn(const Artifact& artifact, const std::vector<std::string>& rules,
                                  const Samples& samples, const ReplaceOptions& options);

/// {format: "fusescope.replacement", version, path, ok, replacements[{rule, gone[…], made[…], undo, kernels_before[],
/// kernels_after[]}], opset{before, after}, kernels{before, after}, predicted_ms{before, after}, median_ms{before,
/// after}, outputs[…], allowed, samples[], random_inputs, notes[]}
Json toJson(const ReplacedNetwork& network, const std::filesystem::path& path);
/// `replace --list`: {format: "fusescope.rules", version, rules[{name, summary, inverse, argument, opset}]}.
Json substitutionsJson();

}  // namespace fusescope
