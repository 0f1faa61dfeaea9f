#include "backends/memory_format.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace fusescope {
namespace {

constexpr std::string_view kPlain = "plain";
constexpr char kPads = '^';

/// Returns the letters of the axes of a tensor of `rank` axes, or an empty text if there are no letters for this rank.
std::string_view lettersOf(std::size_t rank) {
  if (rank == 3) return "ncw";
  if (rank == 4) return "nchw";
  if (rank == 5) return "ncdhw";
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz";
  return rank <= kAlphabet.size() ? kAlphabet.substr(0, rank) : std::string_view();
}

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

char upper(char letter) {
  return static_cast<char>(letter - 'a' + 'A');
}

bool isDigit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool makeSense(const std::vector<MemoryFormat::Block>& blocks, std::size_t rank) {
  return std::ranges::all_of(blocks, [&](const auto& block) { return block.axis < rank && block.extent > 1; });
}

/// Removes a block such as "16c" from the front of `text` and returns it, or returns nothing if `text` does not begin
/// with a block.
std::optional<MemoryFormat::Block> takeBlock(std::string_view& text, std::string_view letters) {
  std::int64_t extent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
  if (error != std::errc() || end == text.data() + text.size()) return std::nullopt;
  const std::size_t axis = letters.find(*end);
  if (axis == std::string_view::npos) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return MemoryFormat::Block{axis, extent};
}

}  // namespace

std::optional<MemoryFormat> MemoryFormat::of(Order order, std::vector<Block> blocks, std::vector<Block> padding) {
  Order sorted = order, straight(order.size());
  std::ranges::sort(sorted);
  std::iota(straight.begin(), straight.end(), std::size_t{0});
  if (sorted != straight || !makeSense(blocks, order.size()) || !makeSense(padding, order.size())) return std::nullopt;
  MemoryFormat format;
  if (order == straight && blocks.empty() && padding.empty()) return format;
  format.m_order = std::move(order);
  format.m_blocks = std::move(blocks);
  format.m_padding = std::move(padding);
  return format;
}

MemoryFormat MemoryFormat::channelsLast(std::size_t rank) {
  MemoryFormat format;
  format.m_order.resize(rank);
  std::iota(format.m_order.begin(), format.m_order.end(), std::size_t{0});
  std::rotate(format.m_order.begin() + 1, format.m_order.begin() + 2, format.m_order.end());
  return format;
}

MemoryFormat MemoryFormat::blockedChannels(std::size_t rank, std::int64_t block) {
  MemoryFormat format;
  format.m_order.resize(rank);
  std::iota(format.m_order.begin(), format.m_order.end(), std::size_t{0});
  format.m_blocks = {{1, block}};
  return format;
}

std::int64_t MemoryFormat::blockOf(std::size_t axis) const {
  std::int64_t product = 1;
  for (const Block& block : m_blocks)
    if (block.axis == axis) product *= block.extent;
  return product;
}

Dims MemoryFormat::padded(const Dims& dims) const {
  Dims extents = dims;
  const auto roundUp = [&](std::size_t axis, std::int64_t multiple) {
    extents[axis] = (extents[axis] + multiple - 1) / multiple * multiple;
  };
  for (const Block& block : m_blocks) roundUp(block.axis, blockOf(block.axis));
  for (const Block& pad : m_padding) roundUp(pad.axis, std::lcm(pad.extent, blockOf(pad.axis)));
  return extents;
}

Dims MemoryFormat::memoryExtents(const Dims& dims) const {
  if (isPlain()) return dims;
  const Dims extents = padded(dims);
  Dims inMemory;
  for (const std::size_t axis : m_order) inMemory.push_back(extents[axis] / blockOf(axis));
  for (const Block& block : m_blocks) inMemory.push_back(block.extent);
  return inMemory;
}

Dims MemoryFormat::memoryStrides(const Dims& strides) const {
  if (isPlain()) return strides;
  Dims inMemory;
  for (const std::size_t axis : m_order) inMemory.push_back(strides[axis] * blockOf(axis));
  for (auto block = m_blocks.begin(); block != m_blocks.end(); ++block) {
    std::int64_t inner = 1;
    for (auto later = block + 1; later != m_blocks.end(); ++later)
      if (later->axis == block->axis) inner *= later->extent;
    inMemory.push_back(strides[block->axis] * inner);
  }
  return inMemory;
}

std::string MemoryFormat::text() const {
  if (isPlain()) return std::string(kPlain);
  const std::string_view letters = lettersOf(m_order.size());
  std::string text;
  for (const std::size_t axis : m_order) text += blockOf(axis) > 1 ? upper(letters[axis]) : letters[axis];
  for (const Block& block : m_blocks) text += std::to_string(block.extent) + letters[block.axis];
  for (const Block& pad : m_padding) text += kPads + std::to_string(pad.extent) + letters[pad.axis];
  return text;
}

std::optional<MemoryFormat> MemoryFormat::parse(std::string_view text) {
  if (text == kPlain) return MemoryFormat();
  const auto isLetter = [](char letter) { return !isDigit(letter) && letter != kPads; };
  const auto rank = static_cast<std::size_t>(std::ranges::find_if_not(text, isLetter) - text.begin());
  std::string_view letters = lettersOf(rank);
  if (rank == 0 || letters.empty()) return std::nullopt;
  constexpr std::string_view kAlphabet = "abcde";
  if (rank <= kAlphabet.size() && std::ranges::any_of(text.substr(0, rank), [](char c) { return lower(c) == 'a'; }))
    letters = kAlphabet.substr(0, rank);
  Order order;
  for (const char letter : text.substr(0, rank)) {
    const std::size_t axis = letters.find(lower(letter));
    if (axis == std::string_view::npos) return std::nullopt;
    order.push_back(axis);
  }
  std::vector<Block> blocks, padding;
  std::string_view rest = text.substr(rank);
  while (!rest.empty()) {
    const bool pads = rest.front() == kPads;
    if (pads) rest.remove_prefix(1);
    const auto block = takeBlock(rest, letters);
    if (!block) return std::nullopt;
    (pads ? padding : blocks).push_back(*block);
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const bool isBlocked = std::ranges::any_of(blocks, [&](const Block& block) { return block.axis == order[i]; });
    if ((lower(text[i]) != text[i]) != isBlocked) return std::nullopt;
  }
  return of(std::move(order), std::move(blocks), std::move(padding));
}

std::string formerWord(const MemoryFormat& format) {
  const std::size_t rank = format.order().size();
  if (format.isChannelsLast()) return "channels_last";
  for (const std::int64_t block : {8, 16})
    if (rank > 1 && format == MemoryFormat::blockedChannels(rank, block)) return "blocked" + std::to_string(block);
  return format.text();
}

}  // namespace fusescope
