#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace fusescope {

/// The place of an error in the user's files. Empty fields are unknown or do not apply.
struct Location {
  std::string file;
  std::string node;       ///< name of a node of the file
  std::string value;      ///< name of a tensor
  std::string attribute;  ///< name of an attribute, option or field
  bool operator==(const Location&) const = default;
};

/// An error as a value. It says what is wrong, where, and what would fix it. A cancellation has a flag of its own: the
/// user stopped the work, and nothing is wrong.
struct Diagnostic {
  std::string message;
  Location where{};
  std::string help{};
  bool cancelled = false;

  static Diagnostic cancellation() { return {.message = "cancelled", .cancelled = true}; }
  /// Returns one paragraph for people: "file: node 'n': attribute 'a': message. help".
  std::string text() const;
  bool operator==(const Diagnostic&) const = default;
};

/// Either a value or a Diagnostic. It does not convert to bool, so that code has to call ok().
template <class T>
class [[nodiscard]] Result {
 public:
  using Value = T;
  Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
  Result(Diagnostic error) : m_state(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const = delete;

  bool ok() const { return m_state.index() == 0; }
  T& value() & { return std::get<0>(m_state); }
  const T& value() const& { return std::get<0>(m_state); }
  T&& value() && { return std::get<0>(std::move(m_state)); }
  const Diagnostic& error() const& { return std::get<1>(m_state); }
  Diagnostic&& error() && { return std::get<1>(std::move(m_state)); }

 private:
  std::variant<T, Diagnostic> m_state;
};

/// The value of a Result that has no value: the operation succeeded.
struct Done {
  bool operator==(const Done&) const = default;
};
using Status = Result<Done>;

}  // namespace fusescope

/// Evaluates to the value of a Result, or returns its error from the enclosing function.
#define TRY(expression)                                       \
  __extension__({                                             \
    auto&& tryResult = (expression);                          \
    if (!tryResult.ok()) return std::move(tryResult).error(); \
    std::move(tryResult).value();                             \
  })
