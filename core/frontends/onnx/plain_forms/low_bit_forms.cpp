// Weights of few bits in blocks, each with a scale and a zero point of its own.
#include <cstring>
#include <memory>

#include "base/packed_bits.h"
#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope::plain {
namespace {

using onnxlib::FileTensor;

struct Blocks {
  std::int64_t rows = 0, columns = 0, size = 0, bits = 0;
  std::int64_t perRow() const { return (columns + size - 1) / size; }
  DataType type() const { return bits == 2 ? DataType::U2 : bits == 4 ? DataType::U4 : DataType::U8; }
};

FileTensor narrowTensor(DataType type, std::vector<std::int64_t> dims, std::vector<std::byte> bytes) {
  const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {.dtype = type, .dims = std::move(dims), .owner = kept, .data = kept->data(), .hasData = true};
}

/// Returns a constant uint8 input of at least `bytes` bytes.
Result<const FileTensor*> constantBytes(const Form& form, std::size_t slot, std::int64_t bytes) {
  const FileTensor* tensor = form.constant(form.in(slot));
  if (tensor == nullptr) return form.problem("its input " + std::to_string(slot) + " must be a constant");
  std::int64_t count = 1;
  for (const std::int64_t dim : tensor->dims) count *= dim;
  if (tensor->dtype != DataType::U8 || count < bytes)
    return form.problem("its input " + std::to_string(slot) + " must be uint8 of at least " + std::to_string(bytes) +
                        " elements");
  return tensor;
}

/// Removes the gaps between `rows` rows of `count` numbers of `bits` bits, each of which takes `stride` bytes.
FileTensor repacked(const FileTensor& from, const Blocks& blocks, std::int64_t count, std::int64_t stride) {
  const int bits = static_cast<int>(blocks.bits);
  FileTensor result{.dtype = blocks.type(), .dims = {blocks.rows, count}, .hasData = from.hasData};
  if (from.data == nullptr) return result;
  std::vector<std::byte> bytes(byteSize(blocks.type(), blocks.rows * count));
  for (std::int64_t row = 0; row < blocks.rows; ++row)
    for (std::int64_t i = 0; i < count; ++i)
      writePacked(bytes.data(), row * count + i, bits, readPacked(from.data + row * stride, i, bits));
  return narrowTensor(blocks.type(), {blocks.rows, count}, std::move(bytes));
}

Result<Blocks> blocksOf(const Form& form) {
  const Blocks blocks{form.intOf("N", 0), form.intOf("K", 0), form.intOf("block_size", 0), form.intOf("bits", 4)};
  if (blocks.bits != 2 && blocks.bits != 4 && blocks.bits != 8)
    return form.problem("weights of " + std::to_string(blocks.bits) + " bits are not supported",
                        "Quantise to 2, 4 or 8 bits.");
  if (blocks.rows < 1 || blocks.columns < 1 || blocks.size < 16)
    return form.problem("needs positive N and K, and a block_size of 16 or more");
  if (form.intOf("weight_prepacked", 0) != 0)
    return form.problem("its weights are packed for one kind of GPU (weight_prepacked)",
                        "Write the file without prepacking.");
  return blocks;
}

/// Returns the zero points, [rows, blocks], as integers. Without zero points, the middle of the range represents 0.
Result<std::string> zeroPoints(Form& form, const Blocks& blocks) {
  const std::int64_t stride = (blocks.perRow() * blocks.bits + 7) / 8;
  if (form.has(3)) {
    const FileTensor& packed = *TRY(constantBytes(form, 3, blocks.rows * stride));
    return form.tensor("zero_points", repacked(packed, blocks, blocks.perRow(), stride));
  }
  std::vector<std::byte> bytes(byteSize(blocks.type(), blocks.rows * blocks.perRow()));
  for (std::int64_t i = 0; i < blocks.rows * blocks.perRow(); ++i)
    writePacked(bytes.data(), i, static_cast<int>(blocks.bits), 1U << (blocks.bits - 1));
  return form.tensor("zero_points", narrowTensor(blocks.type(), {blocks.rows, blocks.perRow()}, std::move(bytes)));
}

/// Returns the weights as floats, [rows, columns].
Result<std::string> wideWeights(Form& form, const Blocks& blocks) {
  const std::int64_t stride = blocks.perRow() * blocks.size * blocks.bits / 8;
  const FileTensor& packed = *TRY(constantBytes(form, 1, blocks.rows * stride));
  const std::string codes = form.tensor("codes", repacked(packed, blocks, blocks.columns, stride));
  const std::string extents = form.ints("block_extents", {blocks.rows, blocks.perRow()});
  const std::string scales = form.add("scales", "Reshape", {form.in(2), extents});
  const std::vector<FileAttribute> along{attribute("axis", std::int64_t{1}), attribute("block_size", blocks.size)};
  const onnxlib::FileType* zeroType = form.has(3) ? form.type(form.in(3)) : nullptr;
  const FileTensor* zeros = form.has(3) ? form.constant(form.in(3)) : nullptr;
  const DataType given = zeros != nullptr ? zeros->dtype : zeroType != nullptr ? zeroType->dtype : DataType::U8;
  if (given == DataType::U8)
    return form.add("weights", "DequantizeLinear", {codes, scales, TRY(zeroPoints(form, blocks))}, along);
  // Zero points that are floats: q · scale - zero · scale.
  const std::string grid = form.add("zeros", "Reshape", {form.in(3), extents});
  const std::string offsets = form.add("offsets", "Mul", {grid, scales});
  const std::string apart = form.add("offsets_apart", "Unsqueeze", {offsets, form.ints("last", {2})});
  const std::string spread =
      form.add("offsets_spread", "Expand", {apart, form.ints("spread", {blocks.rows, blocks.perRow(), blocks.size})});
  const std::string row =
      form.add("offsets_rows", "Reshape", {spread, form.ints("row", {blocks.rows, blocks.perRow() * blocks.size})});
  const std::string cut =
      form.add("offsets_cut", "Slice",
               {row, form.ints("first", {0}), form.ints("end", {blocks.columns}), form.ints("axis", {1})});
  return form.add("weights", "Sub", {form.add("scaled", "DequantizeLinear", {codes, scales}, along), cut});
}

}  // namespace

/// a · Wᵀ + bias, where W is [N, K] in blocks along K. Each block takes whole bytes, lowest bits first.
Status matMulNBits(Form& form) {
  if (form.has(4))
    return form.problem("a changed order of its groups (g_idx) is not supported", "Quantise without reordering.");
  const Blocks blocks = TRY(blocksOf(form));
  const std::string weights = TRY(wideWeights(form, blocks));
  const std::string columns = form.add("columns", "Transpose", {weights}, {attribute("perm", Ints{1, 0})});
  if (!form.has(5)) {
    form.finish("MatMul", {form.in(0), columns});
    return Done{};
  }
  form.finish("Add", {form.add("product", "MatMul", {form.in(0), columns}), form.in(5)});
  return Done{};
}

/// Gather of a table in blocks. A table of uint8 contains numbers of `bits` bits, packed along the last axis. The
/// middle of their range represents 0, unless there are zero points, which are packed in the same way.
Status gatherBlockQuantized(Form& form) {
  const FileTensor* data = form.constant(form.in(0));
  const FileTensor* scales = form.constant(form.in(2));
  if (data == nullptr || scales == nullptr || data->dims.empty() || scales->dims.empty())
    return form.problem("its table and scales must be constants with axes");
  std::string codes = form.in(0), zeros = form.in(3);
  if (data->dtype == DataType::U8) {
    Blocks blocks{.size = form.intOf("block_size", 128), .bits = form.intOf("bits", 4)};
    if (blocks.bits != 2 && blocks.bits != 4 && blocks.bits != 8)
      return form.problem("its number of bits is not 2, 4 or 8");
    FileTensor table = *data;
    table.dtype = blocks.type();
    table.dims.back() *= 8 / blocks.bits;  // rows are whole bytes, so that only the element type changes
    codes = form.tensor("codes", std::move(table));
    blocks.rows = 1;
    for (std::size_t i = 0; i + 1 < scales->dims.size(); ++i) blocks.rows *= scales->dims[i];
    blocks.columns = scales->dims.back() * blocks.size;
    zeros = TRY(zeroPoints(form, blocks));
    zeros = form.add("zero_grid", "Reshape", {zeros, form.ints("grid_extents", scales->dims)});
  }
  const std::string table = form.add(
      "table", "DequantizeLinear", {codes, form.in(2), zeros},
      {attribute("axis", form.intOf("quantize_axis", 1)), attribute("block_size", form.intOf("block_size", 128))});
  form.finish("Gather", {table, form.in(1)}, {attribute("axis", form.intOf("gather_axis", 0))});
  return Done{};
}

}  // namespace fusescope::plain
