#include "ops/families.h"
#include "ops/op_schema.h"

namespace fusescope {
namespace {

OpRegistry makeStandard() {
  OpRegistry registry;
  ops::registerElementwiseUnary(registry);
  ops::registerActivations(registry);
  ops::registerElementwiseBinary(registry);
  ops::registerComparison(registry);
  ops::registerLogicalBitwise(registry);
  ops::registerCast(registry);
  ops::registerMatMul(registry);
  ops::registerConvolution(registry);
  ops::registerPooling(registry);
  ops::registerNormalization(registry);
  ops::registerBatchNormalization(registry);
  ops::registerSoftmax(registry);
  ops::registerReduction(registry);
  ops::registerView(registry);
  ops::registerMovement(registry);
  ops::registerGatherScatter(registry);
  ops::registerShape(registry);
  ops::registerPadTile(registry);
  ops::registerRearrange(registry);
  ops::registerSelect(registry);
  ops::registerResize(registry);
  ops::registerAttention(registry);
  ops::registerRecurrentAttention(registry);
  ops::registerQuantization(registry);
  ops::registerQuantizedProducts(registry);
  ops::registerEinsum(registry);
  ops::registerControlFlow(registry);
  ops::registerScan(registry);
  ops::registerSequence(registry);
  ops::registerOptional(registry);
  ops::registerStrings(registry);
  ops::registerTfIdf(registry);
  ops::registerRecurrence(registry);
  ops::registerDetection(registry);
  ops::registerRegionPooling(registry);
  ops::registerGridSample(registry);
  ops::registerDeformConv(registry);
  ops::registerFold(registry);
  ops::registerFourier(registry);
  ops::registerSignalWindows(registry);
  ops::registerRandom(registry);
  ops::registerLoss(registry);
  ops::registerDeterminant(registry);
  ops::registerTensorScatter(registry);
  ops::registerGated(registry);
  ops::registerLabelEncoder(registry);
  ops::registerPlannedOnly(registry);
  return registry;
}

}  // namespace

const OpRegistry& OpRegistry::standard() {
  static const OpRegistry kRegistry = makeStandard();
  return kRegistry;
}

const OpSchema* OpRegistry::find(std::string_view domain, std::string_view op) const {
  const auto found = m_schemas.find(std::pair(std::string(domain), std::string(op)));
  return found == m_schemas.end() ? nullptr : &found->second;
}

std::vector<const OpSchema*> OpRegistry::all() const {
  std::vector<const OpSchema*> schemas;
  for (const auto& [key, schema] : m_schemas) schemas.push_back(&schema);
  return schemas;
}

void OpRegistry::add(OpSchema schema) {
  auto key = std::pair(schema.domain, schema.op);
  m_schemas.insert_or_assign(std::move(key), std::move(schema));
}

}  // namespace fusescope
