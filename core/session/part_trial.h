#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "session/artifact.h"
#include "session/extract.h"
#include "session/runs/recorded_values.h"

namespace fusescope {

/// What the smallest part must still show.
enum class PartShows {
  Difference,  ///< the plan, or what the compiler made of it, gives other numbers than the network in its own types
  Refusal,     ///< the target or the compiler refuses a node, which then falls back or stops the compilation
  Unfused,     ///< two nodes are not in one kernel
};
std::string_view name(PartShows shows);  ///< "difference", "refusal", "unfused"
std::optional<PartShows> partShowsFromName(std::string_view name);
std::vector<std::string> partShowsNames();  ///< all names

struct MinimalOptions {
  PartShows shows = PartShows::Difference;
  double tolerance = 1e-2;              ///< a difference is a max|Δ| over rms above this
  std::vector<std::string> together{};  ///< for Unfused: the two nodes, which every part contains
  std::int64_t trials = 0;              ///< the largest number of parts to try; 0: no limit
  double seconds = 0;                   ///< the largest number of seconds; 0: no limit
  /// Options for another compiler that must not show it: parts that show it with both are not accepted. Nothing: there
  /// is no other compiler.
  std::optional<PlanOptions> against{};
  std::filesystem::path folder;  ///< the folder for parts that are tried
  RecordingOptions run{};
};

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
