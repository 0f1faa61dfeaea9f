// Whether an exported program is that of a network, by what a real one tells of itself.
#include <gtest/gtest.h>

#include "base/zip_archive.h"
#include "compilers/torch/program_network.h"
#include "tests/torch/handed_sample.h"

namespace fusescope::test {
namespace {

class ProgramOfNetwork : public ::testing::Test {
 protected:
  void SetUp() override {
    m_network = handedSample("bert_tiny");
    ASSERT_TRUE(m_network);
    auto facts = torch_compiler::programFacts(recorded("1/program.json"));
    ASSERT_TRUE(facts.ok()) << facts.error().text();
    m_facts = std::move(facts).value();
  }

  static std::string recorded(const std::string& name) {
    const auto archive = ZipReader::open(TORCH_TESTS "/recordings/bert_tiny.eager.f32.cpu.zip");
    if (!archive.ok()) return {};
    for (std::size_t i = 0; i < archive.value().entries().size(); ++i) {
      if (archive.value().entries()[i].name != name) continue;
      const auto bytes = archive.value().bytes(i, 1 << 24);
      return bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()) : "";
    }
    return {};
  }
  std::string refusal() const {
    const auto made = torch_compiler::programNetwork(*m_network, m_facts);
    return made.ok() ? "" : made.error().text();
  }

  std::optional<CompilerInput> m_network;
  torch_compiler::ProgramFacts m_facts;
};

TEST_F(ProgramOfNetwork, ItsOwnIsTaken) {
  const auto made = torch_compiler::programNetwork(*m_network, m_facts);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(made.value().all, 88);
  EXPECT_EQ(made.value().tied, 86);
  EXPECT_EQ(made.value().untied.size(), 2U);
  EXPECT_EQ(made.value().equalWeights, 19);
}

TEST_F(ProgramOfNetwork, AWeightOfOneNameWithOtherNumbersIsRefused) {
  torch_compiler::ProgramWeight& weight = m_facts.weights.at("m.embeddings.word_embeddings.weight");
  weight.sha256 = std::string(64, '0');
  weight.transposed.clear();
  EXPECT_NE(refusal().find("the weight m.embeddings.word_embeddings.weight has other numbers in the program"),
            std::string::npos)
      << refusal();
  weight.dims = {3, 4};
  EXPECT_NE(refusal().find("is f32 [1000, 128] in the network and f32 [3, 4] in the program"), std::string::npos)
      << refusal();
}

TEST_F(ProgramOfNetwork, OneWithoutAnyOfItsWeightsIsRefused) {
  m_facts.weights.clear();
  EXPECT_NE(refusal().find("none of the 26 weights of the network is a weight of the exported program"),
            std::string::npos)
      << refusal();
}

TEST_F(ProgramOfNetwork, NodesFromElsewhereAreTiedToNothing) {
  for (torch_compiler::ProgramNode& node : m_facts.nodes) node.origin.trace = "another file, line 1";
  const auto made = torch_compiler::programNetwork(*m_network, m_facts);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(made.value().tied, 0);
  EXPECT_EQ(made.value().untied.size(), 88U);
}

}  // namespace
}  // namespace fusescope::test
