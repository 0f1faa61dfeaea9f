#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor_type.h"

namespace fusescope {

/// How the elements of a tensor lie in memory: the order of its axes, blocks of axes that lie innermost, and how far
/// extents are padded. A value: any blocked format of a library can be said, compared, printed and read back.
/// Row-major without blocks is one value, whatever the rank; every other format is of one rank.
class MemoryFormat {
 public:
  /// `extent` elements of `axis` that lie together. An axis may have several.
  struct Block {
    std::size_t axis = 0;
    std::int64_t extent = 1;
    auto operator<=>(const Block&) const = default;
  };
  /// Axes from the outermost to the innermost.
  using Order = std::vector<std::size_t>;

  MemoryFormat() = default;  ///< row-major
  /// `blocks` lie inside of all axes, in this order. `padding` are axes whose extents are padded to a multiple of more
  /// than their blocks. Nothing if the order is no permutation or a number makes no sense.
  static std::optional<MemoryFormat> of(Order order, std::vector<Block> blocks = {}, std::vector<Block> padding = {});
  static MemoryFormat channelsLast(std::size_t rank);                         ///< N, spatial…, C
  static MemoryFormat blockedChannels(std::size_t rank, std::int64_t block);  ///< N, C / block, spatial…, block

  bool isPlain() const { return m_order.empty(); }
  bool isChannelsLast() const { return !isPlain() && m_blocks.empty() && *this == channelsLast(m_order.size()); }
  /// Elements of `axis` that lie in blocks: the product of its blocks, 1 if it has none.
  std::int64_t blockOf(std::size_t axis) const;
  const Order& order() const { return m_order; }  ///< empty: row-major
  const std::vector<Block>& blocks() const { return m_blocks; }
  const std::vector<Block>& padding() const { return m_padding; }
  /// Whether a tensor of these extents can lie so.
  bool fits(const Dims& dims) const { return isPlain() || dims.size() == m_order.size(); }

  /// Extents with the padding.
  Dims padded(const Dims& dims) const;
  /// The padded extents in the order of memory: axes divided by their blocks, then the blocks.
  Dims memoryExtents(const Dims& dims) const;
  /// Strides over memoryExtents() of what is found by `strides` over the axes.
  Dims memoryStrides(const Dims& strides) const;

  /// "plain"; "nhwc", "nChw16c": axes by letters in the order of memory, capitals where blocks follow. Ranks 3 to 5 use
  /// the letters of images, others a, b, c …; "^64c" pads further.
  std::string text() const;
  /// What text() gives. Also every row-major spelling ("nchw").
  static std::optional<MemoryFormat> parse(std::string_view text);

  auto operator<=>(const MemoryFormat&) const = default;

 private:
  Order m_order;
  std::vector<Block> m_blocks, m_padding;
};

/// The words that formats had before they were open: "plain", "channels_last", "blocked8", "blocked16"; for others
/// their text.
std::string formerWord(const MemoryFormat& format);

}  // namespace fusescope
