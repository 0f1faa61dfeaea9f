#pragma once

#include <map>
#include <set>
#include <string>

#include "session/minimal_part.h"
#include "session/recorded_values.h"

namespace fusescope {

/// Cuts parts out of a network, compiles them, and checks whether they show what is searched for.
class PartTrial {
 public:
  /// All references must outlive it. `recorded` contains the values of the network.
  PartTrial(const Artifact& artifact, const NetworkCutter& cutter, const RecordedValues& recorded,
            const MinimalOptions& options)
      : m_artifact(artifact), m_cutter(cutter), m_recorded(recorded), m_options(options) {}

  struct Shown {
    bool isShown = false;
    std::string what;  ///< a text for people, whether it is shown or not
  };
  /// Returns whether the part with `nodes` shows it with the compiler of the artifact and, if there is another
  /// compiler, not with that one. Errors: the part cannot be made, or compiled or run by one of them.
  Result<Shown> shown(const std::set<std::size_t>& nodes);

 private:
  /// What one compiler makes of a part.
  struct Outcome {
    std::map<std::string, double> off{};  ///< Difference: outputs that are too far off, in rms
    double worst = 0;                     ///< likewise, of all outputs
    std::string refused{};                ///< Refusal: what is; empty: nothing
    std::string kernels{};                ///< Unfused: in which kernels the two nodes are
    bool isUnfused = false;
  };

  Result<Outcome> outcomeOf(const PlanOptions& given, const std::filesystem::path& path, const NetworkPart& part);
  Result<PlanOptions> optionsFor(const PlanOptions& given, const std::filesystem::path& path) const;
  std::map<std::string, Tensor> inputsOf(const NetworkPart& part) const;
  BuildOptions buildFor(const Artifact& artifact, const NetworkPart& part) const;
  Status compareOutputs(const Artifact& artifact, const NetworkPart& part, Outcome& outcome) const;
  Status findRefusals(const Artifact& artifact, const NetworkPart& part, Outcome& outcome) const;
  Status findKernels(Artifact& artifact, Outcome& outcome) const;
  bool isShown(const Outcome& outcome) const;
  bool isShownAgainst(const Outcome& outcome, const Outcome& other) const;
  std::string inWords(const Outcome& outcome) const;

  const Artifact& m_artifact;
  const NetworkCutter& m_cutter;
  const RecordedValues& m_recorded;
  const MinimalOptions& m_options;
};

}  // namespace fusescope
