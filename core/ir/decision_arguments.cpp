#include "ir/decision_arguments.h"

#include <algorithm>
#include <limits>

#include "base/json.h"

namespace fusescope {

DecisionArgument::DecisionArgument(const std::vector<std::string>& texts) : m_value(List(texts.begin(), texts.end())) {}

DecisionArgument::Value DecisionArgument::ofUnsigned(std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return number;
  return static_cast<std::int64_t>(number);
}

DecisionArgument DecisionArgument::fromJson(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_integer:
      return json.get<std::int64_t>();
    case Json::value_t::number_unsigned:
      return json.get<std::uint64_t>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return json.get<std::string>();
    case Json::value_t::array: {
      List list;
      for (const Json& element : json) list.push_back(fromJson(element));
      return list;
    }
    case Json::value_t::object: {
      Object object;
      for (const auto& [name, value] : json.items()) object.push_back({name, fromJson(value)});
      return object;
    }
    default:
      return {};
  }
}

bool DecisionArgument::isNumber() const {
  return std::holds_alternative<std::int64_t>(m_value) || std::holds_alternative<std::uint64_t>(m_value) ||
         std::holds_alternative<double>(m_value);
}

std::int64_t DecisionArgument::integer() const {
  if (const auto* number = std::get_if<std::int64_t>(&m_value)) return *number;
  if (const auto* number = std::get_if<std::uint64_t>(&m_value)) return static_cast<std::int64_t>(*number);
  const auto* number = std::get_if<double>(&m_value);
  return number == nullptr ? 0 : static_cast<std::int64_t>(*number);
}

double DecisionArgument::number() const {
  if (const auto* number = std::get_if<std::int64_t>(&m_value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&m_value)) return static_cast<double>(*number);
  const auto* number = std::get_if<double>(&m_value);
  return number == nullptr ? 0 : *number;
}

const DecisionArgument::List& DecisionArgument::list() const {
  static const List kNone;
  const List* list = std::get_if<List>(&m_value);
  return list == nullptr ? kNone : *list;
}

bool DecisionArgument::equals(const DecisionArgument& other) const {
  if (m_value.index() != other.m_value.index() && isNumber() && other.isNumber()) return number() == other.number();
  return m_value == other.m_value;
}

Json DecisionArgument::toJson() const {
  if (isNull()) return nullptr;
  if (const auto* list = std::get_if<List>(&m_value)) {
    Json json = Json::array();
    for (const DecisionArgument& element : *list) json.push_back(element.toJson());
    return json;
  }
  if (const auto* object = std::get_if<Object>(&m_value)) {
    Json json = Json::object();
    for (const NamedArgument& member : *object) json[member.name] = member.value.toJson();
    return json;
  }
  if (const auto* text = std::get_if<std::string>(&m_value)) return *text;
  if (const auto* truth = std::get_if<bool>(&m_value)) return *truth;
  if (const auto* number = std::get_if<double>(&m_value)) return *number;
  if (const auto* number = std::get_if<std::uint64_t>(&m_value)) return *number;
  return std::get<std::int64_t>(m_value);
}

DecisionArguments::DecisionArguments(std::initializer_list<NamedArgument> all) {
  m_all.reserve(all.size());
  for (const NamedArgument& each : all)
    if (!contains(each.name)) m_all.push_back(each);
}

DecisionArguments DecisionArguments::fromJson(const Json& object) {
  DecisionArguments arguments;
  for (const auto& [name, value] : object.get_ref<const Json::object_t&>())
    arguments.m_all.push_back({name, DecisionArgument::fromJson(value)});
  return arguments;
}

const DecisionArgument* DecisionArguments::find(std::string_view name) const {
  const auto found = std::ranges::find(m_all, name, &NamedArgument::name);
  return found == m_all.end() ? nullptr : &found->value;
}

const DecisionArgument& DecisionArguments::operator[](std::string_view name) const {
  static const DecisionArgument kNull;
  const DecisionArgument* found = find(name);
  return found == nullptr ? kNull : *found;
}

DecisionArgument& DecisionArguments::operator[](std::string_view name) {
  const auto found = std::ranges::find(m_all, name, &NamedArgument::name);
  if (found != m_all.end()) return found->value;
  return m_all.emplace_back(NamedArgument{std::string(name), {}}).value;
}

Json DecisionArguments::toJson() const {
  Json json = Json::object();
  for (const NamedArgument& argument : m_all) json[argument.name] = argument.value.toJson();
  return json;
}

}  // namespace fusescope
