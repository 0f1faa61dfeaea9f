#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "planning/describe.h"
#include "planning/price_choices.h"
#include "planning/type_choice.h"
#include "planning/typing.h"

namespace fusescope {

/// What directives cost: the plan with them minus the plan without them, all others in place.
struct DirectiveCost {
  std::vector<std::string> lostFusions;   ///< kernels that would be without them and are not
  std::int64_t kernels = 0;               ///< more than without
  std::int64_t casts = 0;                 ///< more than without
  std::optional<std::int64_t> bytes = 0;  ///< moved more than without, conversions included; null: an extent is unknown
  bool free() const { return lostFusions.empty() && kernels <= 0 && casts <= 0 && bytes.value_or(0) <= 0; }
};

/// Solves for types: what every node calculates in, what every edge is stored at, and which regions come apart for it.
/// Regions are matched before; a wish reaches only the regions and edges around the nodes it names. Not thread-safe.
class TypeSolver {
 public:
  TypeSolver(const Model& model, const Target& target, const Structure& structure, const DirectiveMap& directives,
             std::shared_ptr<const PlanOptions> options, const PriceChoices& priced);

  const TypeChoice& choice(NodeId node) const { return m_choices[node.index]; }
  /// What `node` would calculate in if `directive` did not speak of it.
  DataType typeWithout(NodeId node, int directive) const;
  const Typing& typing() const { return m_typing; }
  /// Of a PinOutput directive in force on `value`; empty if it is granted.
  const std::string& outputObstacle(ValueId value) const { return m_outputObstacles[value.index]; }
  /// Every region, producers before consumers, those that come apart in their parts.
  std::vector<Region> regions();
  std::vector<Decision> takeRefusals() { return std::move(m_refusals); }
  RegionDescriber& describer() { return m_describer; }
  /// Of these directives together.
  DirectiveCost costOf(std::span<const int> directives);

 private:
  struct Totals {
    std::int64_t kernels = 0;
    std::optional<std::int64_t> bytes = 0;
    std::set<std::tuple<ValueId, DataType, bool>> casts;  ///< with whether it is for an output of the network
    std::vector<std::vector<NodeId>> merged;
  };
  struct Removal {
    Typing::Change change;
    std::vector<std::pair<ValueId, int>> stands;  ///< mustStand as it was
  };

  std::vector<DataType> chosenTypes() const;
  void placeOutputs(std::vector<DataType>& pinned);
  bool mayComeApart(const Region& region) const;
  std::optional<std::vector<Region>> apart(const Region& region, std::vector<Decision>* refusals) const;
  std::optional<Typing::Change> unquantised(const Region& region) const;
  DataType outputWish(ValueId value, std::span<const int> gone, int& stands) const;
  std::set<std::uint32_t> changedRegions(const Typing::Change& change) const;
  void requantise(Removal& removal) const;
  Removal remove(std::span<const int> directives);
  std::vector<std::uint32_t> reached(const Typing::Change& change, const std::vector<ValueId>& retyped) const;
  Totals evaluate(const std::vector<std::uint32_t>& regions);
  void count(const Region& region, Totals& totals);

  const Graph& m_graph;
  const Structure& m_structure;
  const DirectiveMap& m_directives;
  std::shared_ptr<const PlanOptions> m_given;
  const PlanOptions& m_options;
  TypeChooser m_chooser;
  std::vector<TypeChoice> m_choices;           ///< by NodeId
  std::vector<int> m_mustStand;                ///< by ValueId: the directive, or -1
  std::vector<std::string> m_outputObstacles;  ///< by ValueId
  std::vector<char> m_apart;                   ///< PriceChoices::apart
  bool m_oneTypePerKernel;
  Typing m_typing;
  RegionDescriber m_describer;
  std::map<std::uint32_t, std::vector<Region>> m_parts;  ///< of regions that come apart
  std::set<NodeId> m_unquantised;  ///< roots that calculate in floats because their operands are dequantised elsewhere
  std::vector<Decision> m_refusals;
};

}  // namespace fusescope
