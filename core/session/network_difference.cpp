#include "session/network_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "ir/graph.h"
#include "ir/place.h"

namespace fusescope {
namespace {

constexpr const char* kBuildAnew =
    "This is another network: build a new engine of it with fusescope build MODEL -o E.fse.";

std::string nameOf(const Graph& graph, ValueId id) {
  return id.valid() ? graph.value(id).name : std::string();
}

std::vector<std::string> namesOf(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) names.push_back(nameOf(graph, id));
  return names;
}

std::string operatorOf(const Node& node) {
  return node.domain.empty() ? node.op : node.domain + "::" + node.op;
}

/// Returns the value of an attribute as text, shortened; for a tensor, its type and extents.
struct AttributeText {
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return fmt::format("'{}'", value); }
  std::string operator()(const Tensor& value) const { return "a tensor " + typeOf(value).text(); }
  std::string operator()(const Subgraph&) const { return "a body"; }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    constexpr std::size_t kMost = 8;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(kMost, values.size()); ++i) texts.push_back((*this)(values[i]));
    if (values.size() > kMost) texts.emplace_back("…");
    return "[" + joined(texts) + "]";
  }
};

bool areSame(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);  // NaN is equal to itself here
}

/// Returns whether two attributes of one kind have the same value.
struct SameAttribute {
  const Attribute& other;
  Numbers numbers;

  bool operator()(float value) const { return areSame(value, std::get<float>(other)); }
  bool operator()(const std::vector<float>& values) const {
    return std::ranges::equal(values, std::get<std::vector<float>>(other),
                              [](float a, float b) { return areSame(a, b); });
  }
  bool operator()(const Tensor& value) const {
    const Tensor& tensor = std::get<Tensor>(other);
    return numbers == Numbers::LeftOut ? typeOf(value) == typeOf(tensor) : value.identical(tensor);
  }
  bool operator()(const Subgraph&) const { return true; }  // is compared as a graph later
  template <class T>
  bool operator()(const T& value) const {
    return value == std::get<T>(other);
  }
};

bool areSame(const Attribute& a, const Attribute& b, Numbers numbers) {
  return a.index() == b.index() && std::visit(SameAttribute{b, numbers}, a);
}

/// Compares one graph with another, and then their bodies.
class GraphComparison {
 public:
  GraphComparison(const Graph& former, const Graph& given, BodyPath path, const std::string& file, Numbers numbers,
                  WeightsComparison& into)
      : m_former(former), m_given(given), m_path(std::move(path)), m_file(file), m_numbers(numbers), m_into(into) {}

  void compare() {
    compareBorders("inputs", m_former.inputs(), m_given.inputs());
    compareBorders("outputs", m_former.outputs(), m_given.outputs());
    for (const NodeId id : m_former.order()) compareNode(m_former.node(id));
    for (const NodeId id : m_given.order()) {
      const Node& node = m_given.node(id);
      if (!m_former.findNode(node.name))
        add({.node = node.name}, fmt::format("the engine's network has no such node ({})", operatorOf(node)));
    }
    for (const ValueId id : m_former.allValues()) compareValue(m_former.value(id));
  }

 private:
  void add(Location where, std::string message) {
    if (m_into.differences.size() >= kMostDifferences) return;
    where.file = m_file;
    if (!where.node.empty()) where.node = m_path.of(where.node);
    if (!where.value.empty()) where.value = m_path.of(where.value);
    m_into.differences.push_back({.message = std::move(message), .where = std::move(where), .help = kBuildAnew});
  }

  void compareBorders(std::string_view what, const std::vector<ValueId>& former, const std::vector<ValueId>& given) {
    const auto before = namesOf(m_former, former), now = namesOf(m_given, given);
    if (before != now)
      add({}, fmt::format("its {} are {}; those of the engine's network are {}", what, joined(now), joined(before)));
  }

  void compareNode(const Node& former) {
    const auto found = m_given.findNode(former.name);
    if (!found)
      return add({.node = former.name},
                 fmt::format("is a node ({}) of the engine's network, but not of this one", operatorOf(former)));
    const Node& given = m_given.node(*found);
    if (operatorOf(former) != operatorOf(given))
      return add({.node = given.name},
                 fmt::format("is {}; in the engine's network it is {}", operatorOf(given), operatorOf(former)));
    const auto compareEnds = [&](std::string_view verb, const std::vector<ValueId>& before,
                                 const std::vector<ValueId>& now) {
      const auto names = namesOf(m_given, now), formerNames = namesOf(m_former, before);
      if (names != formerNames)
        add({.node = given.name},
            fmt::format("{} {}; in the engine's network it {} {}", verb, joined(names), verb, joined(formerNames)));
    };
    compareEnds("reads", former.inputs, given.inputs);
    compareEnds("gives", former.outputs, given.outputs);
    compareAttributes(former, given);
  }

  void compareAttributes(const Node& former, const Node& given) {
    const auto text = [](const Attribute& attribute) { return std::visit(AttributeText{}, attribute); };
    for (const auto& [key, value] : former.attributes) {
      const auto found = given.attributes.find(key);
      if (found == given.attributes.end()) {
        add({.node = given.name, .attribute = key},
            fmt::format("is not given; in the engine's network it is {}", text(value)));
      } else if (!areSame(value, found->second, m_numbers)) {
        const std::string now = text(found->second), before = text(value);
        add({.node = given.name, .attribute = key},
            now == before ? fmt::format("has other elements than in the engine's network ({})", now)
                          : fmt::format("is {}; in the engine's network it is {}", now, before));
      } else if (const auto* body = std::get_if<Subgraph>(&value)) {
        compareBodies(former, key, *body, std::get<Subgraph>(found->second), given);
      }
    }
    for (const auto& [key, value] : given.attributes)
      if (!former.attributes.contains(key))
        add({.node = given.name, .attribute = key},
            fmt::format("is {}; in the engine's network it is not given", text(value)));
  }

  void compareBodies(const Node& holder, const std::string& attribute, const Subgraph& former, const Subgraph& given,
                     const Node& givenHolder) {
    const auto before = namesOf(m_former, former.captures), now = namesOf(m_given, given.captures);
    if (before != now)
      add({.node = givenHolder.name, .attribute = attribute},
          fmt::format("reads {} from outside; in the engine's network it reads {}", joined(now), joined(before)));
    GraphComparison(*former.graph, *given.graph, m_path.into(holder, attribute), m_file, m_numbers, m_into).compare();
  }

  void compareValue(const Value& former) {
    const auto found = m_given.findValue(former.name);
    // If a value does not exist, its node does not exist or has other inputs or outputs, and this is reported there.
    if (!found) return;
    const Value& given = m_given.value(*found);
    const bool wasConstant = former.constant != nullptr, isConstant = given.constant != nullptr;
    if (wasConstant != isConstant)
      return add({.value = given.name}, isConstant ? "is a constant, but not in the engine's network"
                                                   : "is not a constant, but is one in the engine's network");
    if (!(former.type == given.type))
      return add({.value = given.name},
                 fmt::format("is {}; in the engine's network it is {}", given.type.text(), former.type.text()));
    if (wasConstant) compareConstant(given.name, *former.constant, *given.constant);
  }

  void compareConstant(const std::string& name, const Tensor& former, const Tensor& given) {
    if (former.type() != given.type() || former.dims() != given.dims())
      return add({.value = name},
                 fmt::format("is {}; in the engine's network it is {}", typeOf(given).text(), typeOf(former).text()));
    const auto bytes = static_cast<std::int64_t>(given.byteSize());
    ++m_into.constants;
    m_into.bytes += bytes;
    if (m_numbers == Numbers::LeftOut || former.identical(given)) return;
    m_into.changed.push_back(m_path.of(name));
    m_into.changedBytes += bytes;
  }

  const Graph& m_former;
  const Graph& m_given;
  BodyPath m_path;
  const std::string& m_file;
  Numbers m_numbers;
  WeightsComparison& m_into;
};

void compareInputSpecs(const Model& former, const Model& given, WeightsComparison& into) {
  const auto text = [](const InputSpec& spec) {
    return fmt::format(
        "{}{}", name(spec.dtype),
        spec.fixed() ? toText(spec.opt)
                     : fmt::format(" from {} to {}, usually {}", toText(spec.min), toText(spec.max), toText(spec.opt)));
  };
  for (std::size_t i = 0; i < std::min(former.inputSpecs.size(), given.inputSpecs.size()); ++i) {
    const InputSpec &before = former.inputSpecs[i], &now = given.inputSpecs[i];
    if (before.name != now.name || text(before) == text(now)) continue;
    into.differences.push_back({.message = fmt::format("is {}; the engine was built for {}", text(now), text(before)),
                                .where = {.file = given.path, .value = now.name},
                                .help = kBuildAnew});
  }
}

void compareConditions(const Model& former, const Model& given, WeightsComparison& into) {
  const auto texts = [](const Model& model) {
    std::vector<std::string> texts;
    for (const ExtentCondition& condition : model.conditions) texts.push_back(condition.text());
    return joined(texts);
  };
  if (former.conditions == given.conditions) return;
  into.differences.push_back(
      {.message = fmt::format("its open extents must be such that {}; in the engine's network: {}", texts(given),
                              texts(former)),
       .where = {.file = given.path},
       .help = kBuildAnew});
}

}  // namespace

WeightsComparison compareExceptWeights(const Model& former, const Model& given, Numbers numbers) {
  WeightsComparison compared;
  compareInputSpecs(former, given, compared);
  compareConditions(former, given, compared);
  GraphComparison(*former.graph, *given.graph, {}, given.path, numbers, compared).compare();
  return compared;
}

}  // namespace fusescope
