// What was found in the constants of a large file is known as long as the file does not change.
#include "frontends/onnx/known_constants.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/part_hashes.h"
#include "frontends/onnx/network_findings.h"
#include "ir/graph.h"
#include "tests/support/paths.h"
#include "tests/unit/cache/network_keys.h"

namespace fusescope::test {
namespace {

constexpr std::int64_t kCount = std::int64_t{5} << 20;  ///< elements of the constant

class KnownConstantsOfAFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string zeros(kCount * sizeof(float), '\0');
    const float nothing = NAN;
    std::memcpy(zeros.data() + 400, &nothing, sizeof nothing);
    m_path = m_folder.write("weights", zeros);
    std::this_thread::sleep_for(std::chrono::milliseconds(5100));
  }

  /// How many elements of the constant are said to be no numbers; -1: nothing is said.
  std::int64_t notNumbers() {
    const MappedFiles files{MappedFile::open(m_path).value()};
    GraphEditor editor;
    editor.addOutput(
        editor.addConstant("w", Tensor::view(DataType::F32, {kCount}, files[0], files[0]->bytes().data())));
    const PartHashesWanted wanted;
    std::vector<Decision> decisions;
    recordNetworkFindings(editor.current(), decisions, files, &m_store);
    m_hash = partHash(files, files[0]->bytes());
    return decisions.empty() ? -1 : decisions[0].arguments["count"].toJson().get<std::int64_t>();
  }

  const TemporaryFolder m_folder;
  std::filesystem::path m_path;
  HeldStore m_store;
  std::optional<Hash128> m_hash;
};

TEST_F(KnownConstantsOfAFile, AreNotReadAgain) {
  EXPECT_EQ(notNumbers(), 1);
  const auto file = MappedFile::open(m_path).value();
  EXPECT_EQ(m_hash, hashBytes(file->bytes()));
  KnownConstants known(&m_store, *file);
  auto facts = known.find(DataType::F32, file->bytes());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->odd.notNumbers, 1);
  EXPECT_FALSE(known.find(DataType::I32, file->bytes())) << "the elements of another type are others";
  EXPECT_FALSE(known.find(DataType::F32, file->bytes().subspan(4)));
  facts->odd.notNumbers = 7;  // so that it shows who is believed
  known.add(DataType::F32, file->bytes(), *facts);
  known.keep(100);
  EXPECT_EQ(notNumbers(), 7);
  EXPECT_EQ(m_hash, hashBytes(file->bytes()));
}

TEST_F(KnownConstantsOfAFile, AreForgottenWhenItChanges) {
  EXPECT_EQ(notNumbers(), 1);
  const auto before = std::filesystem::last_write_time(m_path);
  {
    std::fstream file(m_path, std::ios::in | std::ios::out | std::ios::binary);
    const float nothing = NAN;
    file.seekp(800);
    file.write(reinterpret_cast<const char*>(&nothing), sizeof nothing);
  }
  std::filesystem::last_write_time(m_path, before);  // the time that programs can set
  EXPECT_EQ(notNumbers(), 2);
  const auto file = MappedFile::open(m_path).value();
  EXPECT_EQ(m_hash, hashBytes(file->bytes()));
  EXPECT_FALSE(KnownConstants(&m_store, *file).areKept()) << "it changed just now, and may change again";
}

}  // namespace
}  // namespace fusescope::test
