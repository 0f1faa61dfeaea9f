#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace fusescope {

/// Values by the handle of a fused node. It is const, and copies share it; with isSameObject() a view finds out that
/// nothing has changed.
template <class T>
class ByHandle {
 public:
  using Map = std::unordered_map<std::string, T>;
  ByHandle() : ByHandle(Map()) {}
  ByHandle(std::initializer_list<typename Map::value_type> values) : ByHandle(Map(values)) {}
  explicit ByHandle(Map values) : m_values(std::make_shared<const Map>(std::move(values))) {}
  bool empty() const { return m_values->empty(); }
  typename Map::const_iterator find(const std::string& handle) const { return m_values->find(handle); }
  typename Map::const_iterator begin() const { return m_values->begin(); }
  typename Map::const_iterator end() const { return m_values->end(); }
  bool isSameObject(const ByHandle& other) const { return m_values == other.m_values; }

 private:
  std::shared_ptr<const Map> m_values;
};

}  // namespace fusescope
