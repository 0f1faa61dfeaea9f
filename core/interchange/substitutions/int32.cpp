// Calculation in int64 that int32 can do, such as that of token ids: not that of extents, which compilers do
// themselves.
#include <algorithm>
#include <limits>
#include <map>

#include "analysis/disjoint_sets.h"
#include "frontends/onnx/file_tensors.h"
#include "interchange/substitutions/substitution.h"

namespace fusescope {
namespace {

constexpr std::string_view kAllOperands[] = {"Add", "Sub", "Mul",    "Div",         "Mod",
                                             "Max", "Min", "Equal",  "Less",        "Greater",
                                             "Neg", "Abs", "Concat", "LessOrEqual", "GreaterOrEqual"};
constexpr std::string_view kFirstOperand[] = {"Gather",    "GatherElements", "Slice",     "Reshape",  "Unsqueeze",
                                              "Squeeze",   "Transpose",      "Expand",    "Identity", "Tile",
                                              "ReduceMax", "ReduceMin",      "ReduceSum", "Flatten"};

/// The operands of a node that hold what it calculates with, by slot; none: it is of another operator.
std::vector<std::size_t> dataSlots(const FileMatcher& match, std::size_t place) {
  std::vector<std::size_t> slots;
  const auto isOne = [&](std::string_view op) { return match.is(place, op); };
  if (std::ranges::any_of(kAllOperands, isOne))
    for (std::size_t slot = 0; slot < match.node(place).inputs.size(); ++slot) slots.push_back(slot);
  else if (std::ranges::any_of(kFirstOperand, isOne))
    slots = {0};
  else if (match.is(place, "Where"))
    slots = {1, 2};
  return slots;
}

bool isInInt64(const FileMatcher& match, std::size_t place) {
  const std::vector<std::size_t> slots = dataSlots(match, place);
  const auto& inputs = match.node(place).inputs;
  return !slots.empty() && match.type(match.result(place)).dtype != DataType::Undefined &&
         match.values().depends(match.result(place)) == FileValues::Depends::Data &&
         std::ranges::all_of(slots, [&](std::size_t slot) {
           return slot < inputs.size() && match.type(inputs[slot]).dtype == DataType::I64;
         });
}

/// One set of nodes that hand int64 to each other, in int32 between Casts.
class InInt32 {
 public:
  InInt32(const SiteSearch& search, const std::set<std::size_t>& places) : m_search(search) { m_site.gone = places; }

  ReplacedSite run() {
    for (const std::size_t place : m_site.gone) {
      onnxlib::FileNode made = match().node(place);
      made.name = match().name(place);
      for (const std::size_t slot : dataSlots(match(), place)) made.inputs[slot] = narrow(made.inputs[slot]);
      const std::string wide = made.outputs[0];
      const bool isWide = match().type(wide).dtype == DataType::I64;
      if (isWide) made.outputs[0] = nameOf(wide);
      m_nodes.push_back(std::move(made));
      if (isWide && isLeft(wide)) m_nodes.push_back(cast(nameOf(wide), wide, DataType::I64));
    }
    m_site.made = std::move(m_nodes);
    return std::move(m_site);
  }

 private:
  const FileMatcher& match() const { return m_search.match; }

  const std::string& nameOf(const std::string& wide) {
    std::string& name = m_names[wide];
    if (name.empty()) name = m_search.fresh(wide + "_int32");
    return name;
  }

  bool isLeft(const std::string& value) const {
    const auto& readers = match().values().readers(value);
    const auto takesWide = [&](std::size_t reader) {
      if (!m_site.gone.contains(reader)) return true;
      const std::vector<std::size_t> slots = dataSlots(match(), reader);
      const auto& inputs = match().node(reader).inputs;
      for (std::size_t slot = 0; slot < inputs.size(); ++slot)
        if (inputs[slot] == value && std::ranges::find(slots, slot) == slots.end()) return true;
      return false;
    };
    return match().values().isOutput(value) || std::ranges::any_of(readers, takesWide);
  }

  /// What stands for a value of int64: what the set makes, a constant, or a Cast of what comes from outside.
  std::string narrow(const std::string& wide) {
    const std::ptrdiff_t maker = match().values().maker(wide);
    const bool isMade = maker >= 0 && m_site.gone.contains(static_cast<std::size_t>(maker));
    const bool isNew = !m_names.contains(wide);
    const std::string name = nameOf(wide);
    if (isMade || !isNew) return name;
    if (const auto constant = match().constant(wide)) {
      m_site.weights.push_back(fileTensor(name, constant->converted(DataType::I32)));
    } else {
      m_nodes.push_back(cast(wide, name, DataType::I32));
    }
    return name;
  }

  onnxlib::FileNode cast(const std::string& from, const std::string& to, DataType type) const {
    return fileNodeOf(m_search.fresh(to + "_cast"), "Cast", {from}, to,
                      {{.name = "to", .value = onnxlib::elementTypeNumber(type)}});
  }

  const SiteSearch& m_search;
  ReplacedSite m_site;
  std::vector<onnxlib::FileNode> m_nodes;
  std::map<std::string, std::string> m_names;  ///< by value of int64: what stands for it
};

/// Returns whether the constants that the nodes read fit.
bool fitsInt32(const FileMatcher& match, const std::set<std::size_t>& places) {
  for (const std::size_t place : places)
    for (const std::size_t slot : dataSlots(match, place)) {
      const auto numbers = match.integers(match.node(place).inputs[slot]);
      const auto isFar = [](std::int64_t number) {
        return number > std::numeric_limits<std::int32_t>::max() || number < std::numeric_limits<std::int32_t>::min();
      };
      if (numbers && std::ranges::any_of(*numbers, isFar)) return false;
    }
  return true;
}

Result<std::vector<ReplacedSite>> findInt64(const SiteSearch& search) {
  const FileMatcher& match = search.match;
  std::set<std::size_t> chosen;
  for (std::size_t place = 0; place < match.nodes(); ++place)
    if (isInInt64(match, place)) chosen.insert(place);
  DisjointSets sets(match.nodes());
  for (const std::size_t place : chosen)
    for (const std::size_t slot : dataSlots(match, place)) {
      const std::ptrdiff_t maker = match.values().maker(match.node(place).inputs[slot]);
      if (maker >= 0 && chosen.contains(static_cast<std::size_t>(maker)))
        sets.unite(static_cast<std::uint32_t>(maker), static_cast<std::uint32_t>(place));
    }
  std::map<std::uint32_t, std::set<std::size_t>> groups;
  for (const std::size_t place : chosen) groups[sets.find(static_cast<std::uint32_t>(place))].insert(place);
  std::vector<ReplacedSite> sites;
  for (const auto& [root, places] : groups)
    if (fitsInt32(match, places)) sites.push_back(InInt32(search, places).run());
  return sites;
}

}  // namespace

Substitution int32() {
  return {.name = "int32",
          .summary =
              "calculations in int64 with the network's inputs (ids, masks) are done in int32 between Casts; the "
              "results are right as long as the numbers fit",
          .find = &findInt64};
}

}  // namespace fusescope
