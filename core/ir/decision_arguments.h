#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_fwd.h"

namespace fusescope {

struct NamedArgument;

/// A value that the sentence and the JSON of a decision contain: a truth, a number, a text, or a list of these. A value
/// that is not known is null.
class DecisionArgument {
 public:
  using List = std::vector<DecisionArgument>;
  /// Fusescope makes no such value. Only a file of another version may contain one, which is written again as it was
  /// read.
  using Object = std::vector<NamedArgument>;

  DecisionArgument() = default;  ///< null
  DecisionArgument(std::nullptr_t) {}
  DecisionArgument(const char* text) : m_value(std::string(text)) {}
  DecisionArgument(std::string_view text) : m_value(std::string(text)) {}
  DecisionArgument(std::string text) : m_value(std::move(text)) {}
  DecisionArgument(std::same_as<bool> auto truth) : m_value(truth) {}
  DecisionArgument(std::signed_integral auto number) : m_value(std::int64_t{number}) {}
  DecisionArgument(std::unsigned_integral auto number) requires(!std::same_as<decltype(number), bool>)
      : m_value(ofUnsigned(number)) {}
  DecisionArgument(double number) : m_value(number) {}
  DecisionArgument(List list) : m_value(std::move(list)) {}
  DecisionArgument(const std::vector<std::string>& texts);
  DecisionArgument(Object object) : m_value(std::move(object)) {}
  template <class Value>
  DecisionArgument(const std::optional<Value>& value)
      : DecisionArgument(value ? DecisionArgument(*value) : DecisionArgument()) {}
  static DecisionArgument fromJson(const Json& json);

  bool isNull() const { return std::holds_alternative<std::monostate>(m_value); }
  bool isNumber() const;
  bool isList() const { return std::holds_alternative<List>(m_value); }
  /// Returns null if this is not text.
  const std::string* text() const { return std::get_if<std::string>(&m_value); }
  std::string* text() { return std::get_if<std::string>(&m_value); }
  /// Returns the number, rounded towards zero if it has a fraction; 0 if this is not a number.
  std::int64_t integer() const;
  /// Returns the number; 0 if this is not a number.
  double number() const;
  /// Returns the elements; no elements if this is not a list.
  const List& list() const;
  Json toJson() const;
  /// Calls `changed` with each text in this argument, also with those in lists.
  template <class Changed>
  void forEachText(Changed changed);

  /// Numbers are equal if their values are, whatever their types are.
  friend bool operator==(const DecisionArgument& a, const DecisionArgument& b) { return a.equals(b); }

 private:
  using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Object>;
  /// Numbers that std::int64_t has are always stored as such.
  static Value ofUnsigned(std::uint64_t number);
  bool equals(const DecisionArgument& other) const;

  Value m_value;
};

struct NamedArgument {
  std::string name;
  DecisionArgument value;
  bool operator==(const NamedArgument&) const = default;
};

/// The arguments of a decision by name, in the order in which they were written. Two lists with another order differ.
class DecisionArguments {
 public:
  DecisionArguments() = default;
  /// If a name occurs more than once, the first is kept.
  DecisionArguments(std::initializer_list<NamedArgument> all);
  static DecisionArguments fromJson(const Json& object);  ///< throws Json::exception if it is no object

  /// Returns null if there is no argument of this name.
  const DecisionArgument* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// Returns a null argument if there is none of this name.
  const DecisionArgument& operator[](std::string_view name) const;
  /// Adds a null argument behind the others if there is none of this name.
  DecisionArgument& operator[](std::string_view name);

  std::size_t size() const { return m_all.size(); }
  auto begin() const { return m_all.begin(); }
  auto end() const { return m_all.end(); }
  auto begin() { return m_all.begin(); }
  auto end() { return m_all.end(); }
  Json toJson() const;
  bool operator==(const DecisionArguments&) const = default;

 private:
  std::vector<NamedArgument> m_all;
};

template <class Changed>
void DecisionArgument::forEachText(Changed changed) {
  if (std::string* text = this->text()) changed(*text);
  if (List* list = std::get_if<List>(&m_value))
    for (DecisionArgument& each : *list) each.forEachText(changed);
  if (Object* object = std::get_if<Object>(&m_value))
    for (NamedArgument& each : *object) each.value.forEachText(changed);
}

}  // namespace fusescope
