#include "diff/made_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "ir/graph.h"
#include "planning/patterns/match_pattern.h"

namespace fusescope {

namespace {

/// The option by which compilers leave out all optimisers above a level.
constexpr const char* kLevel = "level";
/// The option that asks for a type, and the type that the compiler says to have taken.
constexpr const char* kHint = "hint";
constexpr const char* kGrantedHint = "granted_hint";

std::string optionOf(const std::map<std::string, std::string>& options, const char* key) {
  const auto found = options.find(key);
  return found == options.end() ? std::string() : found->second;
}

/// Returns whether `list`, "GeluFusionL2, MatMulAddFusion", contains the optimiser. One that runs at two levels has the
/// level behind its name.
bool lists(std::string_view list, std::string_view optimiser) {
  while (!list.empty()) {
    std::string_view entry = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
    while (entry.starts_with(' ')) entry.remove_prefix(1);
    while (entry.ends_with(' ')) entry.remove_suffix(1);
    if (!entry.starts_with(optimiser)) continue;
    const std::string_view rest = entry.substr(optimiser.size());
    if (rest.empty() || rest == "L1" || rest == "L2") return true;
  }
  return false;
}

bool isOfOptions(const Difference& difference) {
  const auto isOption = [](const std::string& text) {
    return text.starts_with("--compiler-option ") || text.starts_with("without --compiler-option");
  };
  return difference.kind == DifferenceKind::Compiler && isOption(difference.a) && isOption(difference.b);
}

/// A node of one level.
struct LevelNode {
  std::size_t place = 0;     ///< the index of the level
  std::uint32_t number = 0;  ///< PlanLevel::nodeNumberOfA()
  auto operator<=>(const LevelNode&) const = default;
};
using LevelNodes = std::vector<LevelNode>;

/// What one side asked for and reports.
class MadeSide {
 public:
  MadeSide(const std::vector<PlanLevel>& levels, bool isA) : m_levels(levels), m_isA(isA) {
    const ReadBackPlan& whole = *asReadBack(*cover(0));
    for (const DataType type : whole.options.precisions) m_types.emplace(name(type));
    if (whole.options.precisions.empty()) m_types.emplace(name(DataType::F32));
    m_types.insert(optionOf(whole.options.compilerOptions, kHint));
    m_types.insert(optionOf(whole.compiler.options, kGrantedHint));
    m_types.erase(std::string());
    for (std::size_t place = 0; place < levels.size(); ++place)
      if (const ReadBackPlan* made = at(place))
        for (const ReadBackPlan::Kernel& kernel : made->kernels) m_optimisers.insert(kernel.optimiser);
  }

  /// Returns the read-back plan of a level; null if there is none.
  const ReadBackPlan* at(std::size_t place) const {
    return cover(place) == nullptr ? nullptr : asReadBack(*cover(place));
  }
  /// Returns an invalid id if this side does not have the node.
  NodeId nodeOf(const LevelNode& thing) const {
    const PlanLevel& level = m_levels[thing.place];
    if (m_isA) return level.inA(thing.number) ? NodeId(thing.number) : NodeId();
    if (level.inA(thing.number)) return level.match.nodeOfB[thing.number];
    return NodeId(thing.number - static_cast<std::uint32_t>(level.match.nodeOfB.size()));
  }
  std::uint32_t numberOf(std::size_t place, NodeId node) const {
    return m_isA ? m_levels[place].nodeNumberOfA(node) : m_levels[place].nodeNumberOfB(node);
  }

  /// Returns the optimisers that made the kernels of these nodes.
  std::set<std::string> optimisersOf(const LevelNodes& things) const {
    std::set<std::string> optimisers;
    for (const LevelNode& thing : things) {
      const ReadBackPlan* made = at(thing.place);
      const NodeId node = nodeOf(thing);
      if (made == nullptr || !node.valid()) continue;
      for (const FusedNodeId kernel : made->kernelsOf(node))
        if (const std::string& optimiser = made->kernels[kernel.index].optimiser; !optimiser.empty())
          optimisers.insert(optimiser);
    }
    return optimisers;
  }
  /// Returns the type in which the node calculates; empty if it is not reported.
  std::string typeOf(const LevelNode& thing) const {
    const ReadBackPlan* made = at(thing.place);
    const NodeId node = nodeOf(thing);
    const bool isKnown = made != nullptr && node.valid() && made->calculates[node.index] != DataType::Undefined;
    return isKnown ? std::string(name(made->calculates[node.index])) : std::string();
  }
  bool asksFor(const std::string& type) const { return m_types.contains(type); }
  /// Returns the option that leaves out the optimiser here, but not on the `other` side; nothing if none is known to.
  std::optional<std::string> leavesOut(const std::string& optimiser, const MadeSide& other) const {
    const auto &own = at(0)->options.compilerOptions, &others = other.at(0)->options.compilerOptions;
    for (const auto& [key, value] : own)  // the name of an optimiser is in the list of those that are left out
      if (lists(value, optimiser) && !lists(optionOf(others, key.c_str()), optimiser))
        return fmt::format("{}={}", key, value);
    const std::string level = optionOf(own, kLevel);
    // The level is known to leave it out if it makes nothing here.
    const bool isOtherLevel = !level.empty() && level != optionOf(others, kLevel);
    if (isOtherLevel && !m_optimisers.contains(optimiser)) return fmt::format("{}={}", kLevel, level);
    return {};
  }
  const char* letter() const { return m_isA ? "A" : "B"; }

 private:
  const Cover* cover(std::size_t place) const { return m_isA ? m_levels[place].a : m_levels[place].b; }

  const std::vector<PlanLevel>& m_levels;
  bool m_isA;
  std::set<std::string> m_types;  ///< the types that its options request, or that the compiler reports to have used
  std::set<std::string> m_optimisers;  ///< the optimisers that made one of its kernels
};

class MadeCauses {
 public:
  MadeCauses(const std::vector<PlanLevel>& levels, PlanDiff& diff)
      : m_levels(levels), m_diff(diff), m_a(levels, true), m_b(levels, false) {
    if (diff.differences.size() == 1) {
      const Difference& sole = diff.differences.front();
      m_sole = sole.kind == DifferenceKind::Network ? "the networks" : sole.text();
    }
    const auto isOther = [](const Difference& each) {
      return each.kind == DifferenceKind::Compiler && !isOfOptions(each) && !each.a.starts_with("what ") &&
             !each.a.starts_with("without what ");
    };
    m_isOtherCompiler = std::ranges::any_of(diff.differences, isOther);
    for (std::size_t place = 0; place < levels.size(); ++place) addNames(place);
    findDirected();
  }

  void run() {
    for (FusionChange& change : m_diff.fusions) change.because = ofKernels(thingsNamed(change.nodes));
    for (FateChange& change : m_diff.fates) change.because = ofKernels(thingsNamed({change.node}));
    for (SegmentChange& change : m_diff.segments) change.because = ofSegment(change);
    for (TypeChange& change : m_diff.types) change.because = ofTypes(thingsOf(change), change.a, change.b);
    for (CastChange& change : m_diff.casts)
      change.because = ofTypes(nearValue(change.value), std::string(name(change.from)), std::string(name(change.to)));
    for (DecisionChange& change : m_diff.decisions) change.because = ofKernels(subjectsOf(change));
    const auto areKnown = [](const auto& changes) {
      return std::ranges::none_of(changes, [](const auto& change) { return change.because.empty(); });
    };
    m_diff.causesKnown = areKnown(m_diff.fusions) && areKnown(m_diff.fates) && areKnown(m_diff.segments) &&
                         areKnown(m_diff.types) && areKnown(m_diff.casts) && areKnown(m_diff.decisions);
  }

 private:
  void addNames(std::size_t place) {
    const PlanLevel& level = m_levels[place];
    if (level.a == nullptr || level.b == nullptr) return;
    for (const MadeSide* side : {&m_a, &m_b}) {
      const Cover& cover = side == &m_a ? *level.a : *level.b;
      const BodyPath& path = side == &m_a ? level.pathOfA : level.pathOfB;
      for (const NodeId node : cover.graph().order()) {
        const LevelNode thing{place, side->numberOf(place, node)};
        m_nodes.emplace(level.nameOf(thing.number), thing);
      }
      for (const ValueId id : cover.graph().allValues()) {
        const Value& value = cover.graph().value(id);
        LevelNodes near;
        if (value.producer.valid()) near.push_back({place, side->numberOf(place, value.producer)});
        for (const NodeId reader : value.consumers) near.push_back({place, side->numberOf(place, reader)});
        m_near.emplace(path.of(value.name), std::move(near));
      }
      if (side == &m_b) continue;
      for (const FusedNode& fused : cover.fusedNodes) {
        LevelNodes& things = m_kernels[path.of(fused.name)];
        for (const NodeId node : fused.nodes) things.push_back({place, side->numberOf(place, node)});
      }
    }
  }

  /// Finds the nodes of directives that only one side has.
  void findDirected() {
    for (const Difference& difference : m_diff.differences) {
      if (difference.kind != DifferenceKind::Directive) continue;
      const MadeSide& side = difference.a.empty() ? m_b : m_a;
      const std::string& text = difference.a.empty() ? difference.b : difference.a;
      const ReadBackPlan& made = *side.at(0);
      for (const Directive& directive : made.options.directives) {
        if (directive.pattern.empty() || optionText(directive) != text) continue;
        const auto match = PatternMatcher(*made.model).match(directive.pattern);
        if (!match.ok()) continue;  // such as one for nodes of bodies
        for (const NodeId node : match.value().nodes) m_directed[{0, side.numberOf(0, node)}].insert(difference.text());
      }
    }
  }

  LevelNodes thingsNamed(const std::vector<std::string>& names) const {
    LevelNodes things;
    for (const std::string& name : names)
      if (const auto found = m_nodes.find(name); found != m_nodes.end()) things.push_back(found->second);
    return things;
  }
  LevelNodes nearValue(const std::string& name) const {
    const auto found = m_near.find(name);
    return found == m_near.end() ? LevelNodes() : found->second;
  }
  LevelNodes thingsOf(const TypeChange& change) const {
    if (change.thing == TypedThing::Node) return thingsNamed({change.name});
    if (change.thing == TypedThing::Value) return nearValue(change.name);
    const auto found = m_kernels.find(change.name);
    return found == m_kernels.end() ? LevelNodes() : found->second;
  }
  LevelNodes subjectsOf(const DecisionChange& change) const {
    LevelNodes things;
    if (!change.body.isNetwork()) return things;
    const auto add = [&](const Decision* decision, const MadeSide& side) {
      if (decision == nullptr) return;
      for (const Subject& subject : decision->subjects)
        if (const auto node = subject.nodeIn(side.at(0)->graph())) things.push_back({0, side.numberOf(0, *node)});
    };
    add(change.a, m_a);
    add(change.b, m_b);
    return things;
  }

  /// Returns the causes of a change of which kernels run these nodes. Another version of the compiler may have caused
  /// it as well as anything else that differs.
  Causes ofKernels(const LevelNodes& things) const {
    Causes causes = optimisers(things);
    if (!m_sole.empty()) return causes.empty() ? Causes{m_sole} : causes;
    if (m_isOtherCompiler) return causes;
    addDirectives(things, causes);
    addTypes(things, {}, {}, causes);
    return causes;
  }

  Causes ofSegment(const SegmentChange& change) const {
    if (!m_sole.empty() || !change.nodes.empty()) return ofKernels(thingsNamed(change.nodes));
    Causes causes;
    for (const Difference& difference : m_diff.differences)
      if (difference.a.starts_with("--fallback ") || difference.b.starts_with("--fallback "))
        causes.push_back(difference.text());
    return causes;
  }

  /// Returns the causes of another type of these nodes, or of a value between them: `ofA` and `ofB` are the types.
  Causes ofTypes(const LevelNodes& things, const std::string& ofA, const std::string& ofB) const {
    if (!m_sole.empty()) return {m_sole};
    Causes causes;
    addDirectives(things, causes);
    addTypes(things, ofA, ofB, causes);
    return causes;
  }

  /// Returns the optimisers that made kernels of the nodes on one side alone because the other side leaves them out.
  Causes optimisers(const LevelNodes& things) const {
    Causes causes;
    const std::set<std::string> ofA = m_a.optimisersOf(things), ofB = m_b.optimisersOf(things);
    const auto add = [&](const std::set<std::string>& some, const MadeSide& with, const std::set<std::string>& others,
                         const MadeSide& without) {
      for (const std::string& optimiser : some) {
        if (others.contains(optimiser)) continue;
        if (const auto option = without.leavesOut(optimiser, with))
          causes.push_back(
              fmt::format("{}, which --compiler-option {} leaves out in {}", optimiser, *option, without.letter()));
      }
    };
    add(ofA, m_a, ofB, m_b);
    add(ofB, m_b, ofA, m_a);
    return causes;
  }

  void addDirectives(const LevelNodes& things, Causes& causes) const {
    for (const LevelNode& thing : things) {
      const auto found = m_directed.find(thing);
      if (found == m_directed.end()) continue;
      for (const std::string& text : found->second) addOnce(text, causes);
    }
  }

  /// Adds the difference of the types that were asked for, if the types differ as they do: those given, or those of a
  /// node without a directive of its own.
  void addTypes(const LevelNodes& things, const std::string& ofA, const std::string& ofB, Causes& causes) const {
    const auto differs = [&](const std::string& a, const std::string& b) {
      return a != b && m_a.asksFor(a) && m_b.asksFor(b) && !(m_a.asksFor(b) && m_b.asksFor(a));
    };
    const auto isOther = [&](const LevelNode& thing) {
      return !m_directed.contains(thing) && differs(m_a.typeOf(thing), m_b.typeOf(thing));
    };
    if (!(causes.empty() && differs(ofA, ofB)) && std::ranges::none_of(things, isOther)) return;
    for (const Difference& difference : m_diff.differences)
      if (difference.kind == DifferenceKind::Precision || isHint(difference)) addOnce(difference.text(), causes);
  }

  bool isHint(const Difference& difference) const {
    const auto &ofA = m_a.at(0)->options.compilerOptions, &ofB = m_b.at(0)->options.compilerOptions;
    return isOfOptions(difference) && optionOf(ofA, kHint) != optionOf(ofB, kHint);
  }

  static void addOnce(const std::string& text, Causes& causes) {
    if (std::ranges::find(causes, text) == causes.end()) causes.push_back(text);
  }

  const std::vector<PlanLevel>& m_levels;
  PlanDiff& m_diff;
  MadeSide m_a, m_b;
  std::string m_sole;              ///< the text of the only difference; empty if there are several or none
  bool m_isOtherCompiler = false;  ///< whether the version or the environment of the compiler differs
  std::unordered_map<std::string, LevelNode> m_nodes;
  std::unordered_map<std::string, LevelNodes> m_kernels;  ///< by the names of A's kernels
  std::unordered_map<std::string, LevelNodes> m_near;     ///< by the names of values: the nodes that make and read them
  std::map<LevelNode, std::set<std::string>> m_directed;  ///< texts of directives that only one side has
};

}  // namespace

void nameMadeCauses(const std::vector<PlanLevel>& levels, PlanDiff& diff) {
  const PlanLevel& network = levels.front();
  const ReadBackPlan* ofA = asReadBack(*network.a);
  const ReadBackPlan* ofB = asReadBack(*network.b);
  if (ofA == nullptr || ofB == nullptr || ofA->compiler.name != ofB->compiler.name) return;
  MadeCauses(levels, diff).run();
}

}  // namespace fusescope
