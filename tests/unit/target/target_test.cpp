#include "target/target.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "target/target_table.h"

namespace fusescope {
namespace {

TEST(Target, CpuTakesItsCapabilitiesFromTheMachineOrTheName) {
  EXPECT_EQ(Target::fromName("cpu").value().capabilities, hostCapabilities());
  const Target named = Target::fromName("cpu:avx512_bf16+avx2").value();
  EXPECT_EQ(named.canonical(), "cpu:avx2+avx512_bf16");
  EXPECT_TRUE(named.computeTypes.contains(DataType::F16)) << "emulated where no kernel runs it";
  EXPECT_EQ(Target::fromName("cpu:none").value().canonical(), "cpu:none");
  EXPECT_EQ(named.acceleratedBackend, "native");
}

TEST(Target, TheHardwareOfATypeIsWhatTheBackendRunsToo) {
  const std::set<DataType> floats{DataType::F32, DataType::F16, DataType::BF16};
  for (const char* name : {"cpu:none", "cpu:avx512_bf16+avx512_fp16+amx_bf16+amx_fp16", "cpu"})
    EXPECT_EQ(Target::fromName(name).value().hardwareTypes, floats) << name << ": they are widened where they must be";
  TargetTable table = *findTargetTable("cpu");
  table.widened = {DataType::F16};
  std::ranges::find(table.types, DataType::BF16, &TargetType::type)->needs = {"avx512_bf16", "amx_bf16"};
  const auto shared = std::make_shared<const TargetTable>(table);
  EXPECT_FALSE(Target::fromTable(shared, {"avx2"}).hardwareTypes.contains(DataType::BF16)) << "no flag of it";
  EXPECT_TRUE(Target::fromTable(shared, {"amx_bf16"}).hardwareTypes.contains(DataType::BF16));
}

TEST(Target, SaysHowATypeIsCalculated) {
  TargetTable table = *findTargetTable("cpu");
  std::ranges::find(table.types, DataType::BF16, &TargetType::type)->needs = {"avx512_bf16", "amx_bf16"};
  const auto shared = std::make_shared<const TargetTable>(table);
  const Target old = Target::fromTable(shared, {"avx2"}), recent = Target::fromTable(shared, {"avx2", "avx512_bf16"});
  EXPECT_EQ(arithmeticText(old, DataType::F32), "calculated in f32");
  EXPECT_EQ(arithmeticText(old, DataType::BF16), "stored in 16 bits, calculated in f32 in registers");
  EXPECT_EQ(arithmeticText(recent, DataType::BF16),
            "convolutions and products by avx512_bf16; else stored in 16 bits, calculated in f32 in registers");
  EXPECT_NE(arithmeticText(recent, DataType::F8E4M3).find("the reference calculates it exactly"), std::string::npos);
}

TEST(Target, TensorrtVersionsDifferInWhatTheyLack) {
  const Target eight = Target::fromName("tensorrt-8").value();
  EXPECT_TRUE(eight.lacksInt64 && eight.lacksFloat64 && eight.planningOnly);
  EXPECT_FALSE(eight.computeTypes.contains(DataType::BF16));
  const Target ten = Target::fromName("tensorrt-10").value();
  EXPECT_TRUE(!ten.lacksInt64 && ten.lacksFloat64);
  EXPECT_TRUE(ten.computeTypes.contains(DataType::BF16));
  EXPECT_FALSE(ten.stronglyTyped);
  const Target eleven = Target::fromName("tensorrt-11").value();
  EXPECT_TRUE(eleven.stronglyTyped);
  EXPECT_TRUE(eight.predictedFusions && ten.predictedFusions && eleven.predictedFusions);
  EXPECT_FALSE(Target::fromName("cpu").value().predictedFusions);
  EXPECT_EQ(ten.canonical(), "tensorrt-10");
}

TEST(Target, TensorrtForRtxIsPlannedForOneMachine) {
  const Target plain = Target::fromName("tensorrt-rtx").value();
  EXPECT_EQ(plain.canonical(), "tensorrt-rtx:sm89") << "whatever this machine is";
  EXPECT_TRUE(plain.stronglyTyped && plain.planningOnly && !plain.lacksInt64 && plain.lacksFloat64);
  struct Machine {
    const char* name;
    bool bf16, f8, f4;
  };
  for (const Machine& machine :
       {Machine{"sm75", false, false, false}, Machine{"sm80", true, false, false}, Machine{"sm86", true, false, false},
        Machine{"sm89", true, true, false}, Machine{"sm120", true, true, true}, Machine{"sm121", true, true, true}}) {
    const Target target = Target::fromName(std::string("tensorrt-rtx:") + machine.name).value();
    EXPECT_EQ(target.canonical(), std::string("tensorrt-rtx:") + machine.name);
    EXPECT_TRUE(target.types.contains(DataType::F16) && target.computeTypes.contains(DataType::F16)) << machine.name;
    EXPECT_EQ(target.types.contains(DataType::BF16), machine.bf16) << machine.name;
    EXPECT_EQ(target.computeTypes.contains(DataType::BF16), machine.bf16) << machine.name;
    EXPECT_EQ(target.hardwareTypes.contains(DataType::BF16), machine.bf16) << machine.name;
    EXPECT_EQ(target.types.contains(DataType::F8E4M3), machine.f8) << machine.name;
    EXPECT_EQ(target.types.contains(DataType::F4E2M1), machine.f4) << machine.name;
  }
  EXPECT_NE(Target::fromName("tensorrt-rtx:sm90").error().help.find("sm120"), std::string::npos);
  EXPECT_NE(Target::fromName("tensorrt-rtx:sm86+sm89").error().message.find("one machine at a time"),
            std::string::npos);
  EXPECT_FALSE(Target::fromName("tensorrt-rtx:none").ok());
}

TEST(Target, WhatAMachineCanDoLeavesTypesAsTheyAre) {
  for (const char* name : {"cpu:none", "tensorrt-11"}) {
    const Target target = Target::fromName(name).value();
    for (const TargetType& entry : target.table->types) EXPECT_TRUE(target.types.contains(entry.type)) << name;
  }
}

TEST(Target, UnknownNamesListTheKnown) {
  EXPECT_NE(Target::fromName("gpu").error().help.find("tensorrt-10"), std::string::npos);
  EXPECT_NE(Target::fromName("cpu:avx3").error().help.find("avx512_vnni"), std::string::npos);
  EXPECT_FALSE(Target::fromName("tensorrt-10:avx2").ok());
  EXPECT_EQ(targetNames(), (std::vector<std::string>{"cpu", "tensorrt-8", "tensorrt-10", "tensorrt-11", "tensorrt-rtx",
                                                     "onnxruntime", "openvino", "torch"}));
}

}  // namespace
}  // namespace fusescope
