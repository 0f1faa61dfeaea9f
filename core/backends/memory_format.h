#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor_type.h"

namespace fusescope {

/// The layout of the elements of a tensor in memory: the order of its axes, the innermost blocks of axes, and how far
/// extents are padded. It is a value that can express any blocked format of a library, and can be compared, printed and
/// parsed. Row-major without blocks is one value for all ranks; every other format has a fixed rank.
class MemoryFormat {
 public:
  /// `extent` consecutive elements of `axis` that are stored together. An axis may have several blocks.
  struct Block {
    std::size_t axis = 0;
    std::int64_t extent = 1;
    auto operator<=>(const Block&) const = default;
  };
  /// Axes from the outermost to the innermost.
  using Order = std::vector<std::size_t>;

  MemoryFormat() = default;  ///< row-major
  /// Makes a format. `blocks` are inside all axes, in this order. `padding` lists axes whose extents are padded to a
  /// multiple that is larger than their blocks. Returns nothing if the order is not a permutation or a number is
  /// invalid.
  static std::optional<MemoryFormat> of(Order order, std::vector<Block> blocks = {}, std::vector<Block> padding = {});
  static MemoryFormat channelsLast(std::size_t rank);                         ///< N, spatial…, C
  static MemoryFormat blockedChannels(std::size_t rank, std::int64_t block);  ///< N, C / block, spatial…, block

  bool isPlain() const { return m_order.empty(); }
  bool isChannelsLast() const { return !isPlain() && m_blocks.empty() && *this == channelsLast(m_order.size()); }
  /// Returns the number of elements of `axis` in blocks: the product of its blocks, or 1 if it has none.
  std::int64_t blockOf(std::size_t axis) const;
  const Order& order() const { return m_order; }  ///< empty: row-major
  const std::vector<Block>& blocks() const { return m_blocks; }
  const std::vector<Block>& padding() const { return m_padding; }
  /// Returns whether a tensor of these extents can have this format.
  bool fits(const Dims& dims) const { return isPlain() || dims.size() == m_order.size(); }

  /// Returns the extents including the padding.
  Dims padded(const Dims& dims) const;
  /// Returns the padded extents in the order of memory: axes divided by their blocks, then the blocks.
  Dims memoryExtents(const Dims& dims) const;
  /// Converts `strides` over the axes to strides over memoryExtents().
  Dims memoryStrides(const Dims& strides) const;

  /// Returns the format as text: "plain"; "nhwc", "nChw16c" (the letters of axes in the order of memory, capitals for
  /// axes with blocks). Ranks 3 to 5 use the letters of images, others a, b, c …; "^64c" means additional padding.
  std::string text() const;
  /// Parses what text() returns, and every spelling of row-major ("nchw").
  static std::optional<MemoryFormat> parse(std::string_view text);

  auto operator<=>(const MemoryFormat&) const = default;

 private:
  Order m_order;
  std::vector<Block> m_blocks, m_padding;
};

/// Returns the word that older versions used for this format: "plain", "channels_last", "blocked8", "blocked16"; for
/// other formats their text.
std::string formerWord(const MemoryFormat& format);

}  // namespace fusescope
