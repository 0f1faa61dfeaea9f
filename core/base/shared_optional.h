#pragma once

#include <memory>
#include <utility>

#include "base/sole_owner.h"

namespace fusescope {

/// An optional value that copies share until one of them is changed. It is meant for large members of structures that
/// are often copied. It is used like std::optional, and copies may be used and freed in different threads.
template <class T>
class SharedOptional {
 public:
  SharedOptional() = default;
  SharedOptional(T value) : m_value(std::make_shared<T>(std::move(value))) {}  // implicit, as in std::optional

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
  /// Returns whether both refer to the same object, and not only to equal ones. This is fast.
  bool isSameObject(const SharedOptional& other) const { return m_value == other.m_value; }
  bool operator==(const SharedOptional& other) const {
    return isSameObject(other) || (m_value && other.m_value && *m_value == *other.m_value);
  }

 private:
  T& own() {
    if (!isSoleOwner(m_value)) m_value = std::make_shared<T>(*m_value);
    return *m_value;
  }
  std::shared_ptr<T> m_value;  ///< const while it is shared
};

}  // namespace fusescope
