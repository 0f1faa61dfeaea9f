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
#include "planning/prices/price_choices.h"
#include "planning/types/type_choice.h"
#include "planning/types/typing.h"

namespace fusescope {

class Graph;

/// Determines the type in which every node calculates, the stored type of every edge, and which regions are split
/// because of them. Regions are matched before. A directive affects only the regions and edges around its nodes. Not
/// thread-safe.
class TypeSolver {
 public:
  TypeSolver(const Model& model, const Target& target, const Structure& structure, const DirectiveMap& directives,
             std::shared_ptr<const PlanOptions> options, const PriceChoices& priced);

  const TypeChoice& choice(NodeId node) const { return m_choices[node.index]; }
  /// Returns the type in which `node` would calculate without `directive`.
  DataType typeWithout(NodeId node, int directive) const;
  const Typing& typing() const { return m_typing; }
  /// Returns why the PinOutput directive in force on `value` is refused; empty if it is granted.
  const std::string& outputObstacle(ValueId value) const { return m_outputObstacles[value.index]; }
  /// Returns every region, producers before consumers; regions that are split are replaced by their parts.
  std::vector<Region> regions();
  /// Returns, once, the decisions about merges that did not happen because of types or directives.
  std::vector<Decision> takeRefusals() { return std::move(m_refusals); }
  const std::vector<TypeConflict>& conflicts() const { return m_conflicts; }
  RegionDescriber& describer() { return m_describer; }
  /// Returns the cost of these directives together.
  DirectiveCost costOf(std::span<const int> directives);

 private:
  struct Totals {
    std::int64_t kernels = 0;
    std::optional<std::int64_t> bytes = 0, castBytes = 0;  ///< both include conversions
    /// The last element is true for a cast for an output of the network.
    std::set<std::tuple<ValueId, DataType, bool>> casts;
    std::vector<std::vector<std::uint32_t>> merged;  ///< indices of the nodes of each kernel that has several
  };
  struct Removal {
    Typing::Change change;
    std::vector<std::pair<ValueId, int>> previouslyRequired;  ///< the previous entries of m_requiredInMemory
  };

  std::vector<DataType> chosenTypes() const;
  void placeOutputs(std::vector<DataType>& pinned);
  bool maySplit(const Region& region) const;
  std::optional<std::vector<Region>> partsOf(const Region& region, Fusion* outcome = nullptr) const;
  std::optional<Typing::Change> unquantised(const Region& region) const;
  DataType requestedOutputType(ValueId value, std::span<const int> without, int& requiredBy) const;
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
  std::vector<int> m_requiredInMemory;         ///< by ValueId: the directive that requires it to be in memory, or -1
  std::vector<std::string> m_outputObstacles;  ///< by ValueId
  std::vector<char> m_isSeparate;              ///< PriceChoices::isSeparate()
  bool m_oneTypePerKernel;
  Typing m_typing;
  RegionDescriber m_describer;
  std::map<std::uint32_t, std::vector<Region>> m_parts;  ///< the parts of regions that are split
  std::set<NodeId> m_unquantised;  ///< roots that calculate in floats because another kernel dequantises their operands
  std::vector<Decision> m_refusals;
  std::vector<TypeConflict> m_conflicts;
};

}  // namespace fusescope
