// TensorRT for servers by its Python interface, and trtexec, through every command.
#include "tests/tensorrt_server/server_fixture.h"

namespace fusescope::test {
namespace {

using Names = std::vector<std::string>;

/// What both do.
class Both : public Server, public ::testing::WithParamInterface<const char*> {
 protected:
  static bool isTrtexec() { return std::string(GetParam()) == "trtexec"; }
};

TEST_P(Both, AreListedAndMarkedAsUntried) {
  const Json compilers = json({"compilers", "--env", "FUSESCOPE_PYTHON"});
  const Json found = entryOf(compilers["environments"][0]["compilers"], "name", GetParam());
  EXPECT_EQ(found["version"], "10.16.1") << found.dump();
  EXPECT_TRUE(found["problem"].is_null()) << found.dump();
  EXPECT_TRUE(found["elsewhere"].is_null());
  EXPECT_NE(found["untried"].get<std::string>().find("Nobody has run"), std::string::npos);
  EXPECT_EQ(found["devices"][0]["name"], "a card that only tests have");
  for (const char* ability : {"compile", "read_back", "run", "time", "profile"})
    EXPECT_EQ(std::ranges::count(found["can"], Json(ability)), 1) << ability;
  const ProcessResult listed = fusescopeCommand({"compilers", "--env", "FUSESCOPE_PYTHON"});
  EXPECT_NE(listed.out.find(std::string(GetParam()) + "@FUSESCOPE_PYTHON is untried: Nobody has run"),
            std::string::npos)
      << listed.out;
}

TEST_P(Both, TellTheirKernelsInNamesOfTheNetwork) {
  for (const char* version : {"10.16", "11.1"}) {
    SCOPED_TRACE(version);
    serve(version);
    const Json plan = json({"plan", network(), "--compiler", GetParam()});
    EXPECT_EQ(plan["compiler"]["name"], GetParam());
    EXPECT_TRUE(plan["compiler"]["version"].get<std::string>().starts_with(std::string(version).substr(0, 2)));
    EXPECT_EQ(plan["compiler"]["options"]["device"], "a card that only tests have");
    EXPECT_EQ(plan["options"]["target"], "tensorrt-11");
    EXPECT_EQ(namesOf(plan["kernels"]), (Names{"scale + clip", "turn", "shift + last"}));
    for (const Json& node : plan["nodes"]) EXPECT_EQ(node["fate"], "kernel") << node.dump();
    for (const Json& kernel : plan["kernels"]) {
      EXPECT_EQ(kernel["compute"], "f32");
      for (const Json& node : kernel["nodes"]) EXPECT_EQ(node["certainty"], "named");
    }
    EXPECT_EQ(decisionsOf(plan, "build.compiler_memory").size(), 1U);
    EXPECT_FALSE(plan.contains("placement")) << plan["placement"] << "it was built here, not read from files of others";
    const std::vector<Json> tactics = decisionsOf(plan, "build.tactics_timed");
    ASSERT_FALSE(tactics.empty());
    EXPECT_EQ(tactics[0]["arguments"]["layer"], "scale + clip");
  }
}

TEST_P(Both, RunAndAreTimedByKernel) {
  const std::string model = network();
  const ProcessResult run =
      fusescopeCommand({"run", model, "--compiler", GetParam(), "--expect", expected(model), "--tol-rms", "1e-5"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  const Json time = json({"time", model, "--compiler", GetParam(), "--seconds", "0.05", "--per-layer"});
  EXPECT_GT(time["median_ms"].get<double>(), 0);
  const std::string remark = time["remark"];
  EXPECT_NE(remark.find("untried"), std::string::npos) << remark;
  std::vector<double> ms;
  for (const Json& kernel : time["layers"][0]["layers"]) {
    ms.push_back(kernel["median_ms"]);
    EXPECT_EQ(kernel["device"], "a card that only tests have");
  }
  EXPECT_EQ(remark.find("without transfers") != std::string::npos, isTrtexec()) << remark;
  EXPECT_EQ(remark.find("a run took 0.0068 ms with it") != std::string::npos, isTrtexec())
      << "the sum of the means of its layers, while it writes no times of runs: " << remark;
  EXPECT_EQ(ms, isTrtexec() ? (std::vector<double>{0.00224, 0.00205, 0.0023}) : (std::vector<double>{0.25, 0.5, 0.75}));
}

TEST_P(Both, WorkInTheOtherVerbs) {
  const std::string model = network();
  const Json compared = json({"compare", model, model, "--plan-b", std::string("--compiler ") + GetParam(), "--seconds",
                              "0.1", "--threads", "1"});
  EXPECT_TRUE(compared["b_compiler"].get<std::string>().starts_with(GetParam())) << compared["b_compiler"];
  EXPECT_LT(compared["outputs"][0]["max_over_rms"].get<double>(), 1e-5);
  const Json errors = json({"errors", model, "--compiler", GetParam(), "--precision", "f16,f32"});
  EXPECT_EQ(errors["compiler"], GetParam());
  const std::string engine = file("engine.fse");
  json({"build", model, "--compiler", GetParam(), "-o", engine});
  const ProcessResult again = fusescopeCommand({"run", engine, "--expect", expected(model), "--tol-rms", "1e-5"});
  EXPECT_EQ(again.status, 0) << again.out << again.err;
  const Json diff = json({"diff", model, model, "--plan-b", std::string("--compiler ") + GetParam()});
  EXPECT_FALSE(diff.empty());
}

TEST_P(Both, TypesOfLayersAreAskedForWhereTheTargetIsOlder) {
  const std::vector<std::string> asked{"plan",        network(), "--compiler",     GetParam(),    "--target",
                                       "tensorrt-10", "--pin",   "shift=f32:obey", "--precision", "f16"};
  const Json plan = json(asked);
  EXPECT_EQ(plan["options"]["target"], "tensorrt-10");
  if (isTrtexec()) {
    const std::string command = plan["compiler"]["options"]["command"];
    EXPECT_NE(command.find("--fp16 --precisionConstraints=obey --layerPrecisions=n3:fp32,n3_*:fp32"), std::string::npos)
        << command;
    EXPECT_EQ(command.find("--stronglyTyped"), std::string::npos) << command;
    return;
  }
  const Json kernel = entryOf(plan["kernels"], "name", "shift + last");
  EXPECT_EQ(kernel["compute"], "f32");
  EXPECT_EQ(entryOf(plan["kernels"], "name", "turn")["compute"], "f16");
  ASSERT_EQ(plan["pins"].size(), 1U);
  EXPECT_EQ(plan["pins"][0]["result"], "obeyed") << plan["pins"].dump();
  const std::vector<Json> set = decisionsOf(plan, "build.type_set");
  ASSERT_EQ(set.size(), 2U) << "the parser made two layers of the sum";
  EXPECT_EQ(set[0]["arguments"]["layer"], "shift");
  EXPECT_EQ(set[1]["arguments"]["layer"], "shift_1");
  EXPECT_EQ(decisionsOf(plan, "build.compiler_warns").size(), 1U) << "it warns of f16, so that it was allowed";
}

/// What is not obeyed is said once, with what the log and the request tell of it, in the names of the network.
TEST_P(Both, APinThatIsNotObeyedIsExplainedOnce) {
  serve("10.16", "stubborn");
  const Json plan = json({"plan", network(), "--compiler", GetParam(), "--target", "tensorrt-10", "--precision", "f16",
                          "--pin", std::string("turn=") + (isTrtexec() ? "f16" : "f32")});
  ASSERT_EQ(plan["pins"].size(), 1U);
  EXPECT_EQ(plan["pins"][0]["cause"], "only_preferred") << plan["pins"].dump();
  EXPECT_EQ(decisionsOf(plan, "build.pin_only_preferred").size(), 1U);
  EXPECT_EQ(decisionsOf(plan, "build.pin_").size(), 1U) << plan["decisions"].dump();
}

TEST_P(Both, WhatIsToldOfTypesOfOutputsIsNotToldAsOfCalculations) {
  const Json plan = json({"plan", network(), "--compiler", GetParam(), "--target", "tensorrt-10", "--precision", "f16",
                          "--output-type", "shift=f16:obey"},
                         1);
  EXPECT_TRUE(decisionsOf(plan, "build.type_set").empty()) << plan["decisions"].dump();
  const std::vector<Json> warnings = decisionsOf(plan, "build.compiler_warns");
  const bool isWarned = std::ranges::any_of(warnings, [](const Json& said) {
    return said.dump().find("is not the output of the node") != std::string::npos &&
           said["subjects"].dump().find("shift") != std::string::npos;
  });
  EXPECT_EQ(isWarned, isTrtexec()) << "the sum is two layers: " << plan["decisions"].dump();
}

TEST_P(Both, ATimingCacheNeedsAWholePath) {
  const std::string why =
      said({"plan", network(), "--compiler", GetParam(), "--compiler-option", "timing_cache=times.cache"}, 2);
  EXPECT_NE(why.find("the timing cache times.cache is not an absolute path"), std::string::npos) << why;
}

TEST_P(Both, StronglyTypedTheNetworkSaysTheTypes) {
  const Json plan = json({"plan", network(), "--compiler", GetParam(), "--workspace", "1048576", "--compiler-option",
                          "timing_cache=" + file("times.cache")});
  if (!isTrtexec()) return;
  EXPECT_EQ(plan["compiler"]["options"]["command"],
            "trtexec --onnx=network.onnx --saveEngine=engine.plan --profilingVerbosity=detailed --verbose "
            "--exportLayerInfo=layers.json --stronglyTyped --memPoolSize=workspace:1M --timingCacheFile=times.cache "
            "--iterations=1 --duration=0 --warmUp=0");
}

TEST_P(Both, AVersionWithoutTypesOfLayersSaysSo) {
  serve("11.1");
  const std::string why = said({"plan", network(), "--compiler", GetParam(), "--target", "tensorrt-10"}, 2);
  EXPECT_NE(why.find("has no layer precisions: the types in the network decide since version 11"), std::string::npos)
      << why;
}

TEST_P(Both, PinsOfTwoKindsOfStrictnessAreRefused) {
  const std::string why = said({"plan", network(), "--compiler", GetParam(), "--target", "tensorrt-10", "--precision",
                                "f16", "--pin", "shift=f32:obey", "--pin", "turn=f32"},
                               2);
  EXPECT_NE(why.find("TensorRT has one flag for all"), std::string::npos) << why;
}

TEST_P(Both, OtherTargetsAreRefused) {
  const std::string why = said({"plan", network(), "--compiler", GetParam(), "--target", "cpu"}, 2);
  EXPECT_NE(why.find("compiles for target tensorrt-11, not for cpu"), std::string::npos) << why;
}

TEST_P(Both, HalfAnAnswerIsAnErrorOfTheCompiler) {
  serve("10.16", "half");
  const std::string why = said({"plan", network(), "--compiler", GetParam()}, 2);
  EXPECT_NE(why.find("layers.json"), std::string::npos) << why;
  EXPECT_NE(why.find("line"), std::string::npos) << why;
}

/// What fails for the network as for each node of it runs on our own engine, with the reason.
TEST_P(Both, MemoryThatIsShortIsSaidAtTheNodes) {
  serve("10.16", "memory");
  const Json plan = json({"plan", network(), "--compiler", GetParam()});
  for (const Json& node : plan["nodes"]) EXPECT_EQ(node["fate"], "fallback") << node.dump();
  EXPECT_NE(plan.dump().find("out of memory"), std::string::npos);
}

TEST_P(Both, AProcessThatIsKilledIsSaid) {
  serve("10.16", "killed");
  const Json plan = json({"plan", network(), "--compiler", GetParam()});
  for (const Json& node : plan["nodes"]) EXPECT_EQ(node["fate"], "fallback") << node.dump();
  EXPECT_NE(plan.dump().find("was ended by"), std::string::npos) << plan.dump();
}

TEST_P(Both, AnEngineOfAnotherCardIsRefused) {
  serve("10.16", "card");
  const std::string model = network();
  const std::string why = said({"run", model, "--compiler", GetParam()}, 2);
  EXPECT_NE(why.find("incompatible device, expecting compute 8.9 got compute 8.6"), std::string::npos) << why;
  EXPECT_NE(why.find("Compile it again on the card"), std::string::npos) << why;
}

TEST_P(Both, AJobFileBringsTheSame) {
  const std::string model = network(), job = file("job.pyz");
  ASSERT_EQ(
      fusescopeCommand({"probe", "pack", model, "--compiler", GetParam(), "--do", "plan,run,time,profile", "-o", job})
          .status,
      0);
  const std::string python = std::getenv("FUSESCOPE_PYTHON");
  const ProcessResult ran =
      runProcess({"/bin/sh", "-c", "cd " + m_folder.path().string() + " && " + python + " job.pyz"});
  ASSERT_EQ(ran.status, 0) << ran.out << ran.err;
  ::setenv("FUSESCOPE_PYTHON", "/nothing/at/all", 1);
  const ProcessResult opened = fusescopeCommand({"probe", "open", file("result.zip")});
  EXPECT_EQ(opened.status, 0) << opened.out << opened.err;
  const Json plan = json({"plan", model, "--compiler", GetParam() + ("@" + file("result.zip"))});
  EXPECT_EQ(namesOf(plan["kernels"]), (Names{"scale + clip", "turn", "shift + last"}));
}

TEST_P(Both, WhereTheyAreAbsentWhatToDoIsSaid) {
  ::setenv("FUSESCOPE_PYTHON", "env PATH=/usr/bin:/bin python3", 1);
  const std::string why = said({"plan", network(), "--compiler", GetParam()}, 2);
  EXPECT_NE(why.find(std::string("probe pack MODEL --compiler ") + GetParam()), std::string::npos) << why;
  EXPECT_NE(why.find("probe open result.zip"), std::string::npos) << why;
  EXPECT_NE(why.find("import-engine MODEL --layers layers.json"), std::string::npos) << why;
  const ProcessResult listed = fusescopeCommand({"compilers"});
  EXPECT_NE(listed.out.find(std::string(GetParam()) +
                            " is in none of these environments. If it is on a machine that cannot be reached"),
            std::string::npos)
      << listed.out;
  EXPECT_NE(listed.out.find(isTrtexec() ? "There is no program trtexec on the PATH" : "-m pip install tensorrt\n"),
            std::string::npos)
      << listed.out;
}

TEST_P(Both, WithoutACardTheyCompileNothing) {
  serve("10.16", "", " LD_LIBRARY_PATH=");
  const std::string why = said({"plan", network(), "--compiler", GetParam()}, 2);
  EXPECT_NE(why.find("on the NVIDIA card that it finds, and there is none"), std::string::npos) << why;
  EXPECT_NE(why.find("probe pack"), std::string::npos) << why;
}

INSTANTIATE_TEST_SUITE_P(Compilers, Both, ::testing::Values("tensorrt", "trtexec"),
                         [](const auto& each) { return std::string(each.param); });

using Tensorrt = Server;

TEST_F(Tensorrt, KeepsTheTimesOfTacticsInAFile) {
  const std::string cache = file("times.cache"), option = "timing_cache=" + cache;
  for (const char* expected : {"one build more\n", "one build more\none build more\n"}) {
    json({"plan", network(), "--compiler", "tensorrt", "--compiler-option", option});
    EXPECT_EQ(readTextFile(cache).value(), expected);
  }
  m_folder.write("times.cache", "of another card");
  const std::string why = said({"plan", network(), "--compiler", "tensorrt", "--compiler-option", option}, 2);
  EXPECT_NE(why.find("belongs to another TensorRT or another card"), std::string::npos) << why;
  EXPECT_EQ(readTextFile(cache).value(), "of another card") << "what is refused stays as it was";
}

TEST_F(Tensorrt, WhatItsParserRefusesRunsOnOurOwnEngine) {
  const std::string model = network(R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4] x) => (float[4] y) <float[4] w = {1, -2, 3, 0.5}> {
  [scale] a = Mul (x, w)
  [grow] d = Exp (a)
  [last] y = Relu (d)
})");
  const Json plan = json({"plan", model, "--compiler", "tensorrt"});
  EXPECT_EQ(entryOf(plan["nodes"], "node", "grow")["fate"], "fallback");
  EXPECT_EQ(entryOf(plan["nodes"], "node", "scale")["fate"], "kernel");
  const ProcessResult run = fusescopeCommand({"run", model, "--compiler", "tensorrt", "--expect", expected(model)});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(Tensorrt, ATimingCacheThatCannotBeWrittenIsSaidBeforeTheBuild) {
  const std::string why = said(
      {"plan", network(), "--compiler", "tensorrt", "--compiler-option", "timing_cache=" + file("nowhere/times.cache")},
      2);
  EXPECT_NE(why.find("Nothing can be written into the folder"), std::string::npos) << why;
}

TEST_F(Tensorrt, TheLogSaysInNamesOfTheNetworkThatNoKernelObeys) {
  serve("10.16", "impossible");
  const Json plan = json({"plan", network(), "--compiler", "tensorrt", "--target", "tensorrt-10", "--precision", "f16",
                          "--pin", "shift=f32:obey"},
                         1);
  ASSERT_EQ(plan["pins"].size(), 1U);
  EXPECT_EQ(plan["pins"][0]["cause"], "no_tactic") << plan["pins"].dump();
  EXPECT_NE(plan["pins"][0]["why"].get<std::string>().find("layer shift[Add] + last[Relu] obeys"), std::string::npos)
      << plan["pins"].dump();
}

TEST_F(Tensorrt, ACardWithoutMemoryForWhatRunsIsNotAnotherCard) {
  serve("10.16", "crowded");
  const Json plan = json({"plan", network(), "--compiler", "tensorrt"});
  EXPECT_NE(plan.dump().find("out of memory"), std::string::npos);
  EXPECT_EQ(plan.dump().find("Compile it again on the card"), std::string::npos) << plan.dump();
}

using Trtexec = Server;

TEST_F(Trtexec, AnOptionThatAVersionLacksIsNamed) {
  serve("10.16", "option --memPoolSize");
  const std::string why = said({"plan", network(), "--compiler", "trtexec", "--workspace", "1048576"}, 2);
  EXPECT_NE(why.find("trtexec of TensorRT 10.16.1 has no option --memPoolSize"), std::string::npos) << why;
}

TEST_F(Trtexec, AFileThatItDidNotWriteIsNamed) {
  serve("10.16", "none");
  const std::string why = said({"plan", network(), "--compiler", "trtexec"}, 2);
  EXPECT_NE(why.find("layers.json"), std::string::npos) << why;
}

}  // namespace
}  // namespace fusescope::test
