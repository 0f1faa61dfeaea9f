#include "interchange/npz.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"

namespace fusescope {
namespace {

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / name;
}

std::string header(const std::string& dictionary) {
  std::string text = dictionary + "\n";
  std::string bytes = std::string("\x93NUMPY\x01", 7) + '\0' + static_cast<char>(text.size()) + '\0';
  return bytes + text;
}

Result<Tensor> parsed(const std::string& bytes) {
  return parseNpy(std::as_bytes(std::span(bytes.data(), bytes.size())), "f.npz", "x");
}

TEST(Npz, roundTripKeepsTypesExtentsAndBits) {
  NpzArrays arrays;
  const std::vector<float> floats{1.5F, -2, 0, 4, 5, 6};
  arrays["in:x"] = Tensor::copyOf<float>(DataType::F32, {2, 3}, floats);
  arrays["out:i"] = Tensor::ofInt64({-1, INT64_MAX});
  arrays["scalar"] = Tensor::scalar(3);
  arrays["half"] = Tensor::scalar(0.5F).converted(DataType::F16);
  arrays["brain"] = Tensor::scalar(0.5F).converted(DataType::BF16);
  const auto path = scratch("round.npz");
  ASSERT_TRUE(writeNpz(path, arrays).ok());
  const auto read = readNpz(path);
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read.value().size(), arrays.size());
  for (const auto& [name, tensor] : arrays) EXPECT_TRUE(read.value().at(name).identical(tensor)) << name;
}

TEST(Npz, noArraysAreAFileToo) {
  const auto path = scratch("none.npz");
  ASSERT_TRUE(writeNpz(path, {}).ok());
  const auto read = readNpz(path);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read.value().empty());
}

TEST(Npz, readsTheSamples) {
  const auto read = readNpz(FUSESCOPE_SOURCE_DIR "/resources/samples/long_double/io.npz");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(inputsFrom(read.value()).size(), 2U);
  EXPECT_EQ(outputsFrom(read.value()).size(), 3U);
  EXPECT_EQ(inputsFrom(read.value()).at("d").type(), DataType::F64);
}

/// Found by fuzzing: memory was asked for before anybody looked whether the file could hold it.
TEST(Npz, SizesThatTheFileCannotHoldAreRefused) {
  const auto read =
      readNpz(std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "tests/fuzz/corpus/npz/claims_four_gigabytes.npz");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().text().find("the archive has 522 bytes, but claims that 4194303863 bytes are in 4294967160"),
            std::string::npos)
      << read.error().text();
}

TEST(Npz, prefixesAreOptional) {
  const NpzArrays plain{{"x", Tensor::scalar(1)}, {"out:y", Tensor::scalar(2)}};
  EXPECT_TRUE(inputsFrom(plain).contains("x"));
  EXPECT_EQ(inputsFrom(plain).size(), 1U);
  EXPECT_TRUE(outputsFrom(plain).contains("y"));
  EXPECT_EQ(outputsFrom(plain).size(), 1U);
}

TEST(Npy, textIsUtf32OfEqualWidth) {
  const Tensor words = Tensor::ofStrings({2, 2}, {"a", "", "\u00fcber", "\u65e5\U0001f600"});
  const auto bytes = npyBytes(words, "words");
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  EXPECT_NE(bytes.value().find("'descr': '<U4'"), std::string::npos);
  EXPECT_EQ(bytes.value().size() % 64, 0U) << "four elements of four characters of four bytes after the header";
  const auto whole = std::as_bytes(std::span(bytes.value()));
  const auto read = parseNpy(whole, "f.npz", "words");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read.value().identical(words));
  EXPECT_FALSE(parseNpy(whole.first(whole.size() - 1), "f.npz", "words").ok()) << "cut off";
  EXPECT_FALSE(npyBytes(Tensor::ofStrings({1}, {"\xff"}), "broken").ok()) << "not UTF-8";
  EXPECT_FALSE(npyBytes(Tensor::ofElements(Container::Sequence, DataType::F32, {}), "sequence").ok());
}

TEST(Npy, fortranOrderBecomesRowMajor) {
  std::string bytes = header("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }");
  bytes += std::string("\x01\x04\x02\x05\x03\x06", 6);
  const auto tensor = parsed(bytes);
  ASSERT_TRUE(tensor.ok()) << tensor.error().text();
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(tensor.value().asInt64(i), i + 1);
}

TEST(Npy, whatCannotBeReadIsLocated) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"not numpy at all", "not a .npy array"},
      {header("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }") + "1234", "big-endian"},
      {header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + "1234", "type '|O'"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") + "1234", "cut off"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }") + "1234", "header"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000), }"), "too large"},
      {header("__import__('os')"), "header"},
  };
  for (const auto& [bytes, message] : cases) {
    const auto tensor = parsed(bytes);
    ASSERT_FALSE(tensor.ok()) << message;
    EXPECT_NE(tensor.error().message.find(message), std::string::npos) << tensor.error().message;
    EXPECT_EQ(tensor.error().where.file, "f.npz");
    EXPECT_EQ(tensor.error().where.value, "x");
  }
}

TEST(Npz, damagedArchivesAreErrors) {
  const auto whole = readTextFile(FUSESCOPE_SOURCE_DIR "/resources/samples/fp16_overflow/io.npz");
  ASSERT_TRUE(whole.ok());
  auto damaged = whole.value();
  damaged[damaged.size() / 4] ^= 0x40;  // inside the first array's elements: its check sum no longer fits
  const std::vector<std::string> contents{"", "text", whole.value().substr(0, whole.value().size() / 2), damaged};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto path = scratch("damaged" + std::to_string(i) + ".npz");
    std::ofstream(path, std::ios::binary) << contents[i];
    const auto read = readNpz(path);
    ASSERT_FALSE(read.ok()) << i;
    EXPECT_EQ(read.error().where.file, path.string());
  }
  EXPECT_FALSE(readNpz(scratch("missing.npz")).ok());
}

}  // namespace
}  // namespace fusescope
