// Comparisons of two broadcast operands, and Where.
#include <functional>

#include "ops/families.h"
#include "ops/support/pairwise.h"

namespace fusescope::ops {
namespace {

Result<Types> inferComparison(const InferContext& context) {
  return one(DataType::Bool, TRY(broadcastInputs(context)));
}

template <class F>
OpSchema comparison(std::string op, TypeSet types, F f) {
  KernelFunction kernel = [f](const KernelContext& context) -> Result<Tensors> {
    Tensor result = TRY(allocateOutput(context));
    dispatchNumber(context.input(0).type(), [&]<class T>(std::type_identity<T>) {
      mapPairs<T, T, std::uint8_t>(context.input(0), context.input(1), result, f);
    });
    return Tensors{std::move(result)};
  };
  return {.op = std::move(op),
          .kind = OpKind::Elementwise,
          .minInputs = 2,
          .maxInputs = 2,
          .infer = inferComparison,
          .kernel = widened(std::move(kernel)),
          .signature = {"TT", {{'T', types}}}};
}

Result<Tensors> equalTexts(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  const Dims& dims = result.dims();
  const auto& a = context.input(0).strings();
  const auto& b = context.input(1).strings();
  std::uint8_t* to = result.mutableData<std::uint8_t>().data();
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  forEachRun<2>(dims,
                {broadcastStrides(context.input(0).dims(), dims), broadcastStrides(context.input(1).dims(), dims)},
                [&](const auto& start, const auto& step, std::int64_t count) {
                  for (std::int64_t k = 0; k < count; ++k)
                    *to++ = a[at(start[0] + k * step[0])] == b[at(start[1] + k * step[1])];
                });
  return Tensors{std::move(result)};
}

OpSchema equality() {
  OpSchema schema = comparison("Equal", kNumberTypes | kBoolType | TypeSet{DataType::String}, std::equal_to<>{});
  schema.kernel = [numbers = schema.kernel](const KernelContext& context) {
    return context.input(0).type() == DataType::String ? equalTexts(context) : numbers(context);
  };
  return schema;
}

Result<Types> inferWhere(const InferContext& context) {
  const DataType type = context.input(1).dtype == DataType::Undefined ? context.input(2).dtype : context.input(1).dtype;
  return one(type, TRY(broadcastInputs(context)));
}

Result<Tensors> where(const KernelContext& context) {
  const DataType type = context.outputType(0);
  const Dims dims = context.outputDims(0);
  return dispatchStorage(type, [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(type, dims));
    T* to = builder.elements().data();
    const std::uint8_t* condition = context.input(0).data<std::uint8_t>().data();
    const T* yes = elementsOf<T>(context.input(1)).data();
    const T* no = elementsOf<T>(context.input(2)).data();
    const auto strides = [&](std::size_t i) { return broadcastStrides(context.input(i).dims(), dims); };
    forEachRun<3>(dims, {strides(0), strides(1), strides(2)},
                  [&](const auto& at, const auto& step, std::int64_t count) {
                    for (std::int64_t k = 0; k < count; ++k)
                      *to++ = condition[at[0] + k * step[0]] != 0 ? yes[at[1] + k * step[1]] : no[at[2] + k * step[2]];
                  });
    return Tensors{std::move(builder).finish()};
  });
}

}  // namespace

void registerComparison(OpRegistry& registry) {
  registry.add(equality());
  registry.add(comparison("Greater", kNumberTypes, std::greater<>{}));
  registry.add(comparison("GreaterOrEqual", kNumberTypes, std::greater_equal<>{}));
  registry.add(comparison("Less", kNumberTypes, std::less<>{}));
  registry.add(comparison("LessOrEqual", kNumberTypes, std::less_equal<>{}));
  registry.add({.op = "Where",
                .kind = OpKind::Elementwise,
                .minInputs = 3,
                .maxInputs = 3,
                .infer = inferWhere,
                .kernel = unpacked(where),
                .signature = {"BTT", {{'B', kBoolType}, {'T', kAnyType}}}});
}

}  // namespace fusescope::ops
