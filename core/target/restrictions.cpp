#include "target/restrictions.h"

#include <algorithm>

#include "base/text.h"

namespace fusescope {
namespace {

std::string spoken(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns "4 or 5", "floor, ceil or round".
std::string alternatives(const std::vector<Json>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + spoken(values[i]);
  return text;
}

/// Returns an attribute's numbers and texts as a list; nothing for tensors and bodies.
std::vector<Json> elementsOf(const Attribute& attribute) {
  return std::visit(
      []<class T>(const T& value) -> std::vector<Json> {
        if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Subgraph>) {
          return {};
        } else if constexpr (std::is_same_v<T, std::string> || std::is_arithmetic_v<T>) {
          return {Json(value)};
        } else {
          return {value.begin(), value.end()};
        }
      },
      attribute);
}

DecisionArgument listOf(const std::vector<Json>& values) {
  DecisionArgument::List list;
  for (const Json& value : values) list.push_back(DecisionArgument::fromJson(value));
  return list;
}

class Check {
 public:
  Check(const NodeRequest& request, const Restriction& restriction) : m_request(request), m_restriction(restriction) {}

  std::optional<Finding> run() const {
    switch (m_restriction.subject) {
      case Restriction::Subject::Attribute:
        return attribute();
      case Restriction::Subject::Input:
        return m_request.input(m_restriction.position) == nullptr ? std::nullopt : input();
      case Restriction::Subject::Output:
        return output();
      case Restriction::Subject::Function:
        break;
    }
    const Holds holds = m_restriction.function(m_request);
    if (holds == Holds::Yes) return std::nullopt;
    return found(holds, m_restriction.statement, "validate.restriction_not_met");
  }

 private:
  using Rule = Restriction::Rule;

  Finding found(Holds holds, std::string statement, std::string code, const DecisionArguments& more = {}) const {
    DecisionArguments arguments = {{"name", m_restriction.name}, {"statement", statement}};
    for (const NamedArgument& each : more) arguments[each.name] = each.value;
    return {holds, std::move(statement), std::move(code), std::move(arguments)};
  }

  std::string valueName() const {
    const bool in = m_restriction.subject == Restriction::Subject::Input;
    const auto& values = in ? m_request.node.inputs : m_request.node.outputs;
    return m_restriction.position < values.size() ? m_request.nameOf(values[m_restriction.position]) : std::string();
  }

  Finding refusedOperand(std::string statement, std::string given, std::string mend = {}) const {
    return found(Holds::No, std::move(statement), "validate.operand_not_supported",
                 {{"value", valueName()}, {"given", std::move(given)}, {"mend", std::move(mend)}});
  }

  std::optional<Finding> attribute() const {
    const auto given = m_request.node.attributes.find(m_restriction.name);
    if (given == m_request.node.attributes.end()) return std::nullopt;
    if (m_restriction.rule == Rule::Absent)
      return found(Holds::No, m_restriction.name + " is absent", "validate.restriction_not_met");
    const std::vector<Json> elements = elementsOf(given->second);
    const auto allowed = [&](const Json& element) {
      return std::ranges::find(m_restriction.values, element) != m_restriction.values.end();
    };
    if (std::ranges::all_of(elements, allowed)) return std::nullopt;
    const std::string statement = m_restriction.name + " is " + alternatives(m_restriction.values);
    return found(Holds::No, statement, "validate.attribute_not_supported",
                 {{"attribute", m_restriction.name},
                  {"given", elements.size() == 1 ? DecisionArgument::fromJson(elements[0]) : listOf(elements)},
                  {"allowed", listOf(m_restriction.values)}});
  }

  std::optional<Finding> output() const {
    const TensorType* type = m_request.output(m_restriction.position);
    if (type == nullptr) return std::nullopt;
    return refusedOperand("its output " + m_restriction.name + " is not used", "is used");
  }

  std::optional<Finding> input() const {
    const TensorType& type = *m_request.input(m_restriction.position);
    switch (m_restriction.rule) {
      case Rule::Rank:
        return rank(type.shape);
      case Rule::Constant:
        return m_request.isConstant(m_restriction.position) ? std::nullopt
                                                            : std::optional(notConstant("is a constant"));
      case Rule::Zero:
        return zero();
      case Rule::Below:
        return below();
      case Rule::Types:
        if (m_restriction.types.contains(type.dtype)) return std::nullopt;
        return refusedOperand(m_restriction.name + " is " + m_restriction.types.text(),
                              "is " + std::string(name(type.dtype)), "; with a Cast before it, it would be supported");
      case Rule::Static:
        return type.shape.fixed()
                   ? std::nullopt
                   : std::optional(unknownExtents("every extent of " + m_restriction.name + " is known"));
      case Rule::StaticAxis:
        return staticAxis(type.shape);
      default:
        return refusedOperand(m_restriction.name + " is absent", "is given");
    }
  }

  Finding notConstant(const std::string& rule) const {
    return found(Holds::No, m_restriction.name + " " + rule, "validate.operand_not_constant",
                 {{"value", valueName()}, {"mend", "; as an initializer it would be supported"}});
  }

  std::optional<Finding> rank(const Shape& shape) const {
    const std::string statement = "the rank of " + m_restriction.name + " is " + alternatives(m_restriction.values);
    if (!shape.ranked) return found(Holds::Unknown, statement, "validate.rank_not_supported");
    if (std::ranges::find(m_restriction.values, Json(shape.rank())) != m_restriction.values.end()) return std::nullopt;
    return found(Holds::No, statement, "validate.rank_not_supported",
                 {{"value", valueName()}, {"rank", shape.rank()}, {"allowed", listOf(m_restriction.values)}});
  }

  std::optional<Finding> zero() const {
    const Tensor* tensor = m_request.constant(m_restriction.position);
    if (!m_request.isConstant(m_restriction.position)) return notConstant("is a constant, and zero");
    const std::string statement = m_restriction.name + " is zero";
    if (tensor == nullptr || !tensor->hasData())
      return found(Holds::Unknown, statement, "validate.operand_not_supported");
    for (std::int64_t i = 0; i < tensor->count(); ++i) {
      if (tensor->asDouble(i) != 0)
        return refusedOperand(statement, "is not", "; a signed type with zero points of 0 would be supported");
    }
    return std::nullopt;
  }

  std::optional<Finding> below() const {
    const auto limit = m_restriction.values.front().get<std::int64_t>();
    const std::string statement = m_restriction.name + " is less than " + std::to_string(limit);
    const Tensor* tensor = m_request.constant(m_restriction.position);
    if (tensor == nullptr || !tensor->hasData())
      return found(Holds::Unknown, statement, "validate.operand_not_supported");
    for (std::int64_t i = 0; i < tensor->count(); ++i) {
      if (tensor->asDouble(i) >= static_cast<double>(limit))
        return refusedOperand(statement, "contains " + std::to_string(tensor->asInt64(i)));
    }
    return std::nullopt;
  }

  Finding unknownExtents(std::string statement) const {
    return found(Holds::No, std::move(statement), "validate.shape_not_supported",
                 {{"value", valueName()}, {"mend", "; with fixed extents of the inputs it would be supported"}});
  }

  std::optional<Finding> staticAxis(const Shape& shape) const {
    const std::string statement = "the extent of " + m_restriction.name + " along " + m_restriction.axis + " is known";
    if (!shape.ranked) return unknownExtents(statement);
    const std::int64_t given = m_request.node.intAttribute(m_restriction.axis, m_restriction.axisDefault);
    const std::int64_t axis = given < 0 ? given + static_cast<std::int64_t>(shape.rank()) : given;
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.rank())) return std::nullopt;  // inference refuses it
    return shape.dims[static_cast<std::size_t>(axis)].known() ? std::nullopt : std::optional(unknownExtents(statement));
  }

  const NodeRequest& m_request;
  const Restriction& m_restriction;
};

}  // namespace

bool appliesTo(const Restriction& restriction, const Target& target) {
  const auto has = [&](const std::string& name) { return target.capabilities.contains(name); };
  return restriction.on.empty() || std::ranges::any_of(restriction.on, has);
}

std::optional<Finding> findBroken(const NodeRequest& request, const Restriction& restriction) {
  if (!appliesTo(restriction, request.target)) return std::nullopt;
  if (restriction.ofTypes) {
    const TensorType* type = request.input(restriction.position);
    if (type == nullptr || !restriction.ofTypes->contains(type->dtype)) return std::nullopt;
  }
  std::optional<Finding> finding = Check(request, restriction).run();
  if (finding && !restriction.until.empty() && finding->holds == Holds::No) {
    finding->holds = Holds::Unknown;
    finding->statement = "the version is " + restriction.until + " or later, or " + finding->statement;
  }
  return finding;
}

}  // namespace fusescope
