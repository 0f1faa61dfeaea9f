// What TorchInductor compiled before, read from its files: of a program that AOTInductor packed
// (programs/record_package.py).
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "base/zip_archive.h"
#include "frontends/torch/inductor_build.h"
#include "tests/torch/torch_fixture.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

class InductorFiles : public Torch {
 protected:
  const std::string program = TORCH_TESTS "/programs/net.pt2";
  const std::string package = TORCH_TESTS "/programs/package.pt2";

  /// The member of the package whose name ends so.
  std::string memberOf(std::string_view end) const {
    const auto reader = ZipReader::open(package).value();
    for (std::size_t i = 0; i < reader.entries().size(); ++i)
      if (reader.entries()[i].name.ends_with(end)) {
        const auto bytes = reader.bytes(i, 1 << 20).value();
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      }
    return {};
  }
  std::string written(const std::string& name, const std::string& text) const {
    const std::string path = m_folder / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  /// A package that has these members.
  std::string packed(const std::string& name, const std::map<std::string, std::string>& members) const {
    const std::string path = m_folder / name;
    auto writer = ZipWriter::at(path).value();
    for (const auto& [member, text] : members) EXPECT_TRUE(writer.add(member, std::string_view(text)).ok());
    EXPECT_TRUE(writer.finish().ok());
    return path;
  }
  ProcessResult import(const std::string& layers, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"import-engine", program, "--layers", layers};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  }
};

TEST_F(InductorFiles, AKernelOfAPackageHoldsTheNodesOfItsOrigins) {
  const Json made = json({"import-engine", program, "--layers", package});
  EXPECT_EQ(made["placement"]["layers"], 10);
  EXPECT_EQ(made["placement"]["placed"], 9);
  EXPECT_EQ(made["placement"]["device"], "cpu, x86_64, AVX512 AVX512_VNNI");
  EXPECT_EQ(made["placement"]["unplaced"][0]["layer"], "cpp_fused_5:8");
  EXPECT_EQ(made["compiler"]["name"], "torch");
  const Json product = kernelOf(made, "aoti_torch_cpu_addmm_out:2");
  EXPECT_EQ(product["kind"], "addmm");
  EXPECT_EQ(product["nodes"], Json::array({Json{{"node", "linear"}, {"certainty", "named"}}}));
  EXPECT_EQ(product["compute"], "f32");
  std::vector<std::string> fused;
  const Json pointwise = kernelOf(made, "cpp_fused_add_gelu_2:5");
  for (const Json& node : pointwise["nodes"]) {
    fused.push_back(node["node"]);
    EXPECT_EQ(node["certainty"], "derived") << "other kernels are made of it, too";
  }
  EXPECT_EQ(fused, (std::vector<std::string>{"gelu", "add", "gelu_1", "add_1"}));
  EXPECT_EQ(decisionOf(made, "build.shares_kernels")["arguments"]["compiler"], "torch");
  EXPECT_TRUE(decisionOf(made, "build.origins_unknown").empty());
}

TEST_F(InductorFiles, TheListOfKernelsAloneTellsTheSame) {
  const std::string list = written("kernel_information.json", memberOf("kernel_information.json"));
  const Json whole = json({"import-engine", program, "--layers", package});
  const Json alone = json({"import-engine", program, "--layers", list});
  EXPECT_EQ(alone["fused_nodes"], whole["fused_nodes"]);
  EXPECT_EQ(alone["placement"]["device"], Json());
}

TEST_F(InductorFiles, MappingsLeadFromKernelsToNodesOverWhatWasMadeBetween) {
  const Json mappings{{"cppCodeToPost", {{"cpp_fused_b:2", {"mul_1", "mul_2"}}, {"cpp_fused_a:1", {"addmm"}}}},
                      {"postToCppCode", Json::object()},
                      {"postToPre", {{"addmm", {"linear"}}, {"mul_1", {"gelu", "add"}}, {"mul_2", {"gelu"}}}},
                      {"preToPost", Json::object()}};
  const auto build = readInductorBuild(written("mappings.json", mappings.dump()));
  ASSERT_TRUE(build.ok()) << build.error().text();
  ASSERT_EQ(build.value().kernels.size(), 2U);
  EXPECT_EQ(build.value().kernels[0].name, "cpp_fused_a:1") << "in the order of their calls";
  EXPECT_EQ(build.value().kernels[1].origins, (std::vector<std::string>{"add", "gelu"}));
}

TEST_F(InductorFiles, WhatCannotBeReadIsSaidWithWhatWouldHelp) {
  const auto failsWith = [&](const std::string& layers, const std::string& words, std::vector<std::string> more = {}) {
    const ProcessResult result = import(layers, std::move(more));
    EXPECT_NE(result.status, 0) << words;
    EXPECT_TRUE(has(result.err, words)) << result.err;
    EXPECT_EQ(result.out, "");
  };
  const std::string folder = "net/data/aotinductor/";
  const std::string list = memberOf("kernel_information.json");
  failsWith(packed("silent.pt2", {{folder + "model/a.wrapper_metadata.json", "{}"}}), "INDUCTOR_PROVENANCE=1");
  failsWith(packed("two.pt2", {{folder + "a/kernel_information.json", list}, {folder + "b/x.json", "{}"}}),
            "the code of several networks, a, b");
  failsWith(packed("torn.pt2", {{folder + "model/kernel_information.json", "{\"a:1\": {"}}), "is not JSON");
  failsWith(packed("wrong.pt2", {{folder + "model/kernel_information.json",
                                  R"({"a:1": {"pre_grad_nodes": 3, "post_grad_nodes": []}})"}}),
            "a:1, pre_grad_nodes");
  failsWith(package, "--log", {"--log", written("build.log", "x")});
  const ProcessResult alone = fusescopeCommand({"import-engine", "--layers", package});
  EXPECT_TRUE(has(alone.err, "import-engine MODEL.pt2 --layers")) << alone.err;
  const ProcessResult opened = fusescopeCommand({"plan", package});
  EXPECT_TRUE(has(opened.err, "import-engine MODEL.pt2 --layers " + package)) << opened.err;
}

TEST_F(InductorFiles, AnArchiveThatHoldsAProgramAsWellIsOpenedAsThat) {
  const std::string list = memberOf("kernel_information.json");
  const std::string both = packed(
      "both.pt2", {{"net/data/aotinductor/model/kernel_information.json", list}, {"net/models/model.json", "{}"}});
  EXPECT_FALSE(isInductorBuild(both));
  EXPECT_TRUE(isInductorBuild(package));
}

TEST_F(InductorFiles, APackageOfAnotherNetworkIsNotPutOverThisOne) {
  const std::string other =
      written("other.json", R"({"cpp_fused_x:1": {"pre_grad_nodes": ["conv2d"], "post_grad_nodes": ["convolution"]}})");
  const std::string output = m_folder / "made.json";
  const ProcessResult result = import(other, {"-o", output});
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(has(result.out, "from which no node of this network was made: conv2d")) << result.out;
  EXPECT_FALSE(fs::exists(output));
}

}  // namespace
}  // namespace fusescope::test
