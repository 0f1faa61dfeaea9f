#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace fusescope {

/// Reads the fields of canonical bytes that a KeyBuilder made, in the order in which they were added. After the first
/// field that is cut short, or is no number where one is asked for, all further fields are empty and isWhole() is
/// false.
class KeyFields {
 public:
  explicit KeyFields(std::string_view canonical) : m_rest(canonical) {}

  std::string_view text();
  template <class T>
  requires std::is_arithmetic_v<T> T number() {
    T value{};
    const std::string_view field = text();
    if (field.size() == sizeof value)
      std::memcpy(&value, field.data(), sizeof value);
    else
      m_isWhole = false;
    return value;
  }
  bool isAtEnd() const { return m_rest.empty() || !m_isWhole; }
  bool isWhole() const { return m_isWhole; }

 private:
  std::string_view m_rest;
  bool m_isWhole = true;
};

}  // namespace fusescope
