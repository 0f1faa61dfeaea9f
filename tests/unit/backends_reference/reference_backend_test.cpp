#include "backends/reference/reference_backend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/reference/convert_elements.h"
#include "backends/reference/reference_nodes.h"
#include "base/float_bits.h"
#include "engine/kernels/kernel_store.h"

namespace fusescope {
namespace {

/// One node y = op(x, constant) as a fused node at the given types.
struct SingleNode {
  Plan plan;
  KernelRequest request;

  SingleNode(const std::string& op, DataType compute, DataType stored, const Tensor& constant) {
    GraphEditor editor;
    const TensorType type{DataType::F32, Shape::of(Dims{2})};
    const ValueId x = editor.addInput("x", type), c = editor.addConstant("c", constant);
    const ValueId y = editor.addValue("y", type);
    const NodeId node = editor.addNode({.op = op, .name = "node", .inputs = {x, c}, .outputs = {y}});
    editor.addOutput(y);
    Model model;
    model.graph = editor.publish().value();
    plan.model = std::make_shared<const Model>(std::move(model));
    plan.calculates = {compute};
    plan.segments.push_back({.id = SegmentId(0), .backend = "reference", .nodes = {node}});
    plan.fusedNodes.push_back({.id = FusedNodeId(0),
                               .name = "node",
                               .segment = SegmentId(0),
                               .root = node,
                               .nodes = {node},
                               .inputs = {x},
                               .outputs = {{y, stored}},
                               .compute = compute,
                               .accumulate = DataType::F32});
    request = {.plan = &plan, .fused = &plan.fusedNodes[0]};
    request.values = {{x, {compute, {2}}}, {y, {stored, {2}}}};
    request.addConstant(c, constant);
  }

  Result<std::shared_ptr<const Kernel>> prepare() const {
    return KernelStore().kernel(referenceBackend(), request, referenceBackend().tactics(request).front());
  }
};

TEST(ReferenceBackend, RoundsOperandsToTheComputeTypeAndSumsInFloat32) {
  // 1/3 as f16 is 0.33325195; 1024 + that needs more than f16's 11 bits, and the sum is stored as float32.
  SingleNode node("Add", DataType::F16, DataType::F32,
                  Tensor::copyOf<float>(DataType::F32, {1}, std::vector{1.0F / 3}));
  const auto kernel = node.prepare();
  ASSERT_TRUE(kernel.ok()) << kernel.error().text();
  const std::uint16_t x[2] = {toFloat16Bits(1024), toFloat16Bits(-1)};
  float y[2] = {};
  const std::byte* in = reinterpret_cast<const std::byte*>(x);
  std::byte* out = reinterpret_cast<std::byte*>(y);
  ASSERT_TRUE(kernel.value()->run({&in, 1}, {&out, 1}, nullptr).ok());
  EXPECT_EQ(y[0], 1024.0F + roundedTo(DataType::F16, 1.0F / 3));
  EXPECT_EQ(y[1], -1.0F + roundedTo(DataType::F16, 1.0F / 3));
}

TEST(ReferenceBackend, StoresOutputsAtTheirType) {
  SingleNode node("Mul", DataType::F16, DataType::F16, Tensor::scalar(1000));
  const auto kernel = node.prepare();
  ASSERT_TRUE(kernel.ok()) << kernel.error().text();
  const std::uint16_t x[2] = {toFloat16Bits(65), toFloat16Bits(66)};
  std::uint16_t y[2] = {};
  const std::byte* in = reinterpret_cast<const std::byte*>(x);
  std::byte* out = reinterpret_cast<std::byte*>(y);
  ASSERT_TRUE(kernel.value()->run({&in, 1}, {&out, 1}, nullptr).ok());
  EXPECT_EQ(fromFloat16Bits(y[0]), 64992.0F);
  EXPECT_TRUE(std::isinf(fromFloat16Bits(y[1]))) << "66,000 is beyond f16";
}

bool emulates(const SingleNode& node) {
  return referenceBackend().tactics(node.request).front().numerics.emulated;
}

TEST(ReferenceBackend, NarrowFloatsAreEmulatedWhateverTheHardwareHas) {
  for (const DataType type : {DataType::F16, DataType::BF16, DataType::F8E4M3}) {
    SingleNode node("Add", type, type, Tensor::scalar(1));
    node.plan.target.hardwareTypes = {DataType::F32, type};
    node.plan.target.capabilities = {"avx512_fp16", "avx512_bf16", "amx_fp16", "amx_bf16"};
    EXPECT_TRUE(emulates(node)) << name(type);
    EXPECT_EQ(emulatedType(node.plan, node.plan.fusedNodes[0]), type);
  }
  SingleNode wide("Add", DataType::F32, DataType::F32, Tensor::scalar(1));
  wide.plan.target.hardwareTypes.clear();
  EXPECT_FALSE(emulates(wide)) << "float32 is what the reference calculates in";
}

TEST(ReferenceBackend, WhateverIsNarrowInMemoryIsEmulated) {
  const SingleNode stores("Add", DataType::F32, DataType::F16, Tensor::scalar(1));
  EXPECT_TRUE(emulates(stores)) << "what it leaves";
  SingleNode reads("Add", DataType::F32, DataType::F32, Tensor::scalar(1));
  EXPECT_FALSE(emulates(reads));
  reads.plan.truncation.constants = {{reads.request.constants.begin()->first, DataType::F32, DataType::BF16}};
  reads.plan.index();
  EXPECT_TRUE(emulates(reads)) << "a constant that it reads";
  SingleNode edge("Add", DataType::F32, DataType::F32, Tensor::scalar(1));
  edge.plan.fusedNodes[0].innerEdges = {{edge.plan.fusedNodes[0].outputs[0].value, false, DataType::F16}};
  EXPECT_FALSE(emulates(edge)) << "in registers";
  edge.plan.fusedNodes[0].innerEdges[0].real = true;
  EXPECT_TRUE(emulates(edge)) << "in memory";
}

TEST(ReferenceBackend, AQuantisedRegionIsEmulatedAndIntegersAreNot) {
  const SingleNode region("Add", DataType::I8, DataType::F32, Tensor::scalar(1));
  EXPECT_TRUE(emulates(region)) << "floats of the network, calculated in int8";
  const SingleNode integers("Add", DataType::I32, DataType::I32, Tensor::scalar(1));
  EXPECT_FALSE(emulates(integers));
}

TEST(ReferenceBackend, ConversionsToNarrowFloatsAreEmulated) {
  const auto emulatesConversion = [](DataType from, DataType to) {
    return referenceBackend().emulatesConversion({from, {4}}, {to, {4}});
  };
  EXPECT_TRUE(emulatesConversion(DataType::F32, DataType::F16));
  EXPECT_TRUE(emulatesConversion(DataType::F8E5M2, DataType::F32));
  EXPECT_FALSE(emulatesConversion(DataType::I64, DataType::I32));
  EXPECT_FALSE(emulatesConversion(DataType::F16, DataType::F16)) << "a copy";
}

TEST(ReferenceBackend, UnknownTacticsAndMissingKernelsAreErrors) {
  SingleNode node("Add", DataType::F32, DataType::F32, Tensor::scalar(1));
  const auto unknown = referenceBackend().compile(node.request, {.name = "onednn"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("onednn"), std::string::npos);
  SingleNode strange("Mystery", DataType::F32, DataType::F32, Tensor::scalar(1));
  const auto kernel = strange.prepare();
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().where.node, "node");
}

TEST(ReferenceBackend, ConvertsPlainTensorsOnly) {
  const TensorDesc from{DataType::F32, {1, 8}};
  const MemoryFormat blocked = MemoryFormat::blockedChannels(2, 8);
  EXPECT_FALSE(referenceBackend().compileConversion(from, {DataType::F32, {1, 8}, blocked}, 1).ok());
  EXPECT_FALSE(referenceBackend().compileConversion(from, {DataType::F16, {1, 9}}, 1).ok());
  EXPECT_TRUE(referenceBackend().compileConversion(from, {DataType::F16, {2, 4}}, 1).ok());
}

TEST(ConvertElements, AgreesWithTensorForEveryPair) {
  const std::vector<DataType> types{DataType::F64, DataType::F32, DataType::F16, DataType::BF16,
                                    DataType::I64, DataType::I32, DataType::U8,  DataType::Bool};
  const std::vector<float> values{0, 1, -0.0F, 3.75F, 100.5F, 7, 2.5e-3F};
  const Tensor plain = Tensor::copyOf<float>(DataType::F32, {7}, values);
  for (const DataType from : types)
    for (const DataType to : types) {
      const Tensor source = plain.converted(from);
      Tensor result = Tensor::zeros(to, {7});
      convertElements(from, source.bytes(), to, result.mutableBytes(), 7);
      EXPECT_TRUE(result.identical(source.converted(to))) << name(from) << " to " << name(to);
    }
}

TEST(TensorDescBytes, CountsThePaddingOfBlockedFormats) {
  EXPECT_EQ((TensorDesc{DataType::F32, {2, 3, 5, 5}}).bytes(), 600U);
  EXPECT_EQ((TensorDesc{DataType::F32, {2, 3, 5, 5}, MemoryFormat::channelsLast(4)}).bytes(), 600U);
  EXPECT_EQ((TensorDesc{DataType::F32, {2, 3, 5, 5}, MemoryFormat::blockedChannels(4, 8)}).bytes(), 1600U);
  EXPECT_EQ((TensorDesc{DataType::F16, {2, 17, 5, 5}, MemoryFormat::blockedChannels(4, 16)}).bytes(), 3200U);
}

}  // namespace
}  // namespace fusescope
