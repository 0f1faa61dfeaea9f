// Col2Im: columns of blocks are added to the image from which they were cut.
#include <fmt/format.h>

#include <complex>

#include "ops/families.h"
#include "ops/support/kernel_support.h"
#include "ops/support/require_extents.h"
#include "ops/support/unfold.h"

namespace fusescope::ops {
namespace {

/// Returns the blocks as a window that moves over the image. `image` and `block` are the values of the node's inputs.
Result<Window> blockWindow(const Node& node, const Ints& image, const Ints& block) {
  if (image.empty() || image.size() != block.size())
    return problem(fmt::format(
        "image_shape has {} entries and block_shape has {}, but both must have the same number of entries, at least 1",
        image.size(), block.size()));
  for (std::size_t i = 0; i < image.size(); ++i)
    if (image[i] < 1 || block[i] < 1 || image[i] > (1 << 30) || block[i] > (1 << 30))
      return problem(fmt::format("block_shape is {} and image_shape is {}, expected extents from 1 to 2^30",
                                 toText(block), toText(image)));
  return Window::read(node, image.size(), block);
}

/// Returns how many blocks there are along each axis.
Result<Dims> blockCounts(const Window& window, const Ints& image) {
  Dims counts;
  for (std::size_t i = 0; i < image.size(); ++i) counts.push_back(TRY(window.positions(i, image[i])));
  return counts;
}

Result<Types> inferCol2Im(const InferContext& context) {
  TRY(requireRank(context, 0, 3));
  const DataType type = context.input(0).dtype;
  const Dim batch = extentOf(context, 0, 0), rows = extentOf(context, 0, 1), columns = extentOf(context, 0, 2);
  const auto image = knownInts(context, 1), block = knownInts(context, 2);
  if (!image || !block) {
    const Dim rank = extentOf(context, 1, 0);
    if (!rank.known() || rank.size > 64) return one(type, Shape::unknown());
    Shape shape = unknownOfRank(static_cast<std::size_t>(rank.size) + 2);
    shape.dims[0] = batch;
    return one(type, std::move(shape));
  }
  const Window window = TRY(blockWindow(context.node(), *image, *block));
  const auto area = elementCount(*block);
  const auto blocks = elementCount(TRY(blockCounts(window, *image)));
  if (!area || !blocks) return problem("the number of blocks does not fit into 64 bits");
  if (rows.known() && rows.size % *area != 0)
    return problem(
        fmt::format("the input has {} rows, which is not a multiple of the {} elements of a block", rows.size, *area));
  if (columns.known() && columns.size != *blocks)
    return problem(fmt::format("the input has {} columns, but the image has {} blocks", columns.size, *blocks));
  std::vector<Dim> dims{batch, rows.known() ? Dim(rows.size / *area) : Dim()};
  dims.insert(dims.end(), image->begin(), image->end());
  return one(type, Shape::of(std::move(dims)));
}

template <class T>
Result<Tensors> col2ImAs(const KernelContext& context) {
  const Tensor& columns = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const Ints image = int64Values(context.input(1));
  const Window window = TRY(blockWindow(context.node(), image, int64Values(context.input(2))));
  const Dims counts = TRY(blockCounts(window, image));
  const std::int64_t batch = result.dims()[0], channels = result.dims()[1];
  for (std::int64_t n = 0; n < batch; ++n)
    foldAdd(columns.data<T>().data() + n * (columns.count() / batch), channels, image, counts, window,
            result.mutableData<T>().data() + n * (result.count() / batch));
  return Tensors{std::move(result)};
}

Result<Tensors> col2Im(const KernelContext& context) {
  const DataType type = context.outputType(0);
  if (type == DataType::C64) return col2ImAs<std::complex<float>>(context);
  if (type == DataType::C128) return col2ImAs<std::complex<double>>(context);
  if (!kNumberTypes.contains(type)) return problem(fmt::format("elements of type {} cannot be added", name(type)));
  return dispatchNumber(type, [&]<class T>(std::type_identity<T>) { return col2ImAs<T>(context); });
}

}  // namespace

void registerFold(OpRegistry& registry) {
  registry.add({.op = "Col2Im",
                .kind = OpKind::Other,
                .minInputs = 3,
                .maxInputs = 3,
                .infer = inferCol2Im,
                .kernel = widened(col2Im),
                .signature = {"TII", {{'T', kAnyType}, {'I', kInt64Type}}}});
}

}  // namespace fusescope::ops
