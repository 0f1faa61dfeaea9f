#pragma once

#include <memory>
#include <utility>

#include "base/sole_owner.h"

namespace fusescope {

/// A value or none, that copies share until one of them is changed: for what is large, and copied with what it is in.
/// Reads as std::optional; copies may be used and freed in different threads.
template <class T>
class SharedOptional {
 public:
  SharedOptional() = default;
  SharedOptional(T value) : m_value(std::make_shared<T>(std::move(value))) {}  // as std::optional: implicit

  bool has_value() const { return m_value != nullptr; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return *m_value; }
  const T* operator->() const { return m_value.get(); }
  T& operator*() { return own(); }
  T* operator->() { return &own(); }
  T value_or(T otherwise) const { return m_value ? *m_value : std::move(otherwise); }
  T& emplace() {
    m_value = std::make_shared<T>();
    return *m_value;
  }
  void reset() { m_value.reset(); }
  /// Whether it is the very same value, and not only an equal one: quick.
  bool shares(const SharedOptional& other) const { return m_value == other.m_value; }
  bool operator==(const SharedOptional& other) const {
    return shares(other) || (m_value && other.m_value && *m_value == *other.m_value);
  }

 private:
  T& own() {
    if (!isSoleOwner(m_value)) m_value = std::make_shared<T>(*m_value);
    return *m_value;
  }
  std::shared_ptr<T> m_value;  ///< const while it is shared
};

}  // namespace fusescope
