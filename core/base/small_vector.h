#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace fusescope {

/// A sequence whose first `N` elements are stored in the object itself, so that short sequences, such as extents and
/// axes, allocate no memory. Elements must be trivially copyable.
template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(std::size_t count, const T& value = T()) { assign(count, value); }
  SmallVector(std::initializer_list<T> values) { append(values.begin(), values.size()); }
  SmallVector(const std::vector<T>& values) { append(values.data(), values.size()); }
  explicit SmallVector(std::span<const T> values) { append(values.data(), values.size()); }
  SmallVector(const SmallVector& other) { append(other.data(), other.size()); }
  SmallVector(SmallVector&& other) noexcept
      : m_size(other.m_size), m_room(other.m_room), m_more(std::exchange(other.m_more, nullptr)) {
    std::copy_n(other.m_own, m_more == nullptr ? m_size : 0, m_own);
    other.m_size = 0;
    other.m_room = N;
  }
  SmallVector& operator=(const SmallVector& other) {
    if (this == &other) return *this;
    m_size = 0;
    append(other.data(), other.size());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    delete[] m_more;
    m_size = std::exchange(other.m_size, 0);
    m_room = std::exchange(other.m_room, N);
    m_more = std::exchange(other.m_more, nullptr);
    std::copy_n(other.m_own, m_more == nullptr ? m_size : 0, m_own);
    return *this;
  }
  ~SmallVector() { delete[] m_more; }
  explicit operator std::vector<T>() const { return {begin(), end()}; }

  std::size_t size() const { return m_size; }
  bool empty() const { return m_size == 0; }
  T* data() { return m_more != nullptr ? m_more : m_own; }
  const T* data() const { return m_more != nullptr ? m_more : m_own; }
  T* begin() { return data(); }
  T* end() { return data() + m_size; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + m_size; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[m_size - 1]; }
  const T& back() const { return data()[m_size - 1]; }

  void clear() { m_size = 0; }
  void push_back(T value) {
    reserve(m_size + 1);
    data()[m_size++] = value;
  }
  void pop_back() { --m_size; }
  void resize(std::size_t count) {
    reserve(count);
    if (count > m_size) std::fill_n(end(), count - m_size, T());
    m_size = count;
  }
  void assign(std::size_t count, T value) {
    reserve(count);
    std::fill_n(data(), count, value);
    m_size = count;
  }
  /// Appends `count` elements, which must not be elements of this sequence.
  void append(const T* values, std::size_t count) {
    reserve(m_size + count);
    std::copy_n(values, count, end());
    m_size += count;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) { return std::ranges::equal(a, b); }

 private:
  void reserve(std::size_t count) {
    if (count <= m_room) return;
    const std::size_t room = std::max(count, 2 * m_room);
    T* const more = new T[room];
    std::copy_n(data(), m_size, more);
    delete[] m_more;
    m_more = more;
    m_room = room;
  }

  std::size_t m_size = 0, m_room = N;
  T* m_more = nullptr;  ///< all elements, if there are or were more than N of them; otherwise null
  T m_own[N];
};

/// Extents or strides in code that computes them very often.
using SmallDims = SmallVector<std::int64_t, 8>;

}  // namespace fusescope
