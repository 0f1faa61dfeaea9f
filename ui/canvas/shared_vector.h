#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace fusescope {

/// A vector in pieces that copies share. A copy needs only one pointer per piece, and a change copies only the piece
/// that contains it. It is as thread-safe as a vector: copies may be used by several threads.
template <class T>
class SharedVector {
 public:
  static constexpr std::size_t kPiece = 256;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator(const SharedVector& of, std::size_t place) : m_of(&of), m_place(place) {}
    const T& operator*() const { return (*m_of)[m_place]; }
    Iterator& operator++() {
      ++m_place;
      return *this;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    const SharedVector* m_of;
    std::size_t m_place;
  };

  std::size_t size() const { return m_size; }
  bool empty() const { return m_size == 0; }
  const T& operator[](std::size_t place) const { return (*m_pieces[place / kPiece])[place % kPiece]; }
  const T& back() const { return (*this)[m_size - 1]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, m_size}; }

  void push_back(T value) {
    if (m_size % kPiece == 0) {
      m_pieces.push_back(std::make_shared<std::vector<T>>());
      m_pieces.back()->reserve(kPiece);
    }
    own(m_size / kPiece).push_back(std::move(value));
    ++m_size;
  }
  /// Returns an element that can be changed, only in this copy.
  T& edit(std::size_t place) { return own(place / kPiece)[place % kPiece]; }

 private:
  std::vector<T>& own(std::size_t piece) {
    std::shared_ptr<std::vector<T>>& mine = m_pieces[piece];
    if (mine.use_count() > 1) {
      auto copy = std::make_shared<std::vector<T>>();
      copy->reserve(kPiece);
      copy->assign(mine->begin(), mine->end());
      mine = std::move(copy);
    }
    return *mine;
  }

  std::vector<std::shared_ptr<std::vector<T>>> m_pieces;
  std::size_t m_size = 0;
};

}  // namespace fusescope
