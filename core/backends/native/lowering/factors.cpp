#include "backends/native/lowering/factors.h"

namespace fusescope::native {
DataType multiplies(const Context& context, const Node& root) {
  const DataType type = context.request().plan->calculates[root.id.index];
  if (!context.options().narrow || type != DataType::BF16) return DataType::F32;
  const auto isNarrowed = [&](ValueId value) {
    if (context.isConstant(value)) return context.narrowTypeOf(value) == type;
    return context.seenType(value) == type || context.rounding().made(value) == type || context.readType(value) == type;
  };
  return isNarrowed(root.input(0)) && isNarrowed(root.input(1)) ? type : DataType::F32;
}

Result<Ref> factor(Context& context, ValueId value, DataType type) {
  if (type == DataType::F32) return context.ref(value);
  if (const auto narrow = TRY(context.narrowed(value, type))) return *narrow;
  // A batch of constant matrices: the only kind of constant factor that is not packed as a weight.
  Ref constant = TRY(context.asStored(value));
  const Ref narrow = context.allocateScratch(type, constant.dims);
  TRY(context.convertType(constant, narrow));
  return narrow;
}

}  // namespace fusescope::native
