// What is handed to a place that nobody trusts, and what is taken from it.
#include "cache/shared_blob.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/stat.h>

#include <cstring>

#include "tests/unit/shared_cache/shared_tests.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

std::string blobOf(std::string_view key, std::string_view bytes, const SigningKey& by = teamKey()) {
  KeptFacts facts = answerFacts();
  facts.madeAt = 1'700'000'000;
  return sealedBlob(facts, key, bytes, by).value();
}

/// Signs anew what was changed, as a member of the team could.
std::string signedAnew(std::string blob) {
  const std::string key = teamKey().bytes;
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(blob.data()),
       blob.size() - 32, reinterpret_cast<unsigned char*>(blob.data() + blob.size() - 32), &size);
  return blob;
}

std::string whyNotOpened(std::string_view blob, std::string_view key, const SigningKey& by = teamKey()) {
  const auto kept = openedBlob(blob, "answer", key, by);
  return kept.ok() ? "opened" : kept.error().message;
}

TEST(SharedBlob, GivesWhatWasSealedWithAllThatIsSaidOfIt) {
  for (const std::string& bytes : {std::string(), std::string("a\0b", 3), sharedContent(1, 1, 200'000)}) {
    const auto kept = openedBlob(blobOf("key", bytes), "answer", "key", teamKey());
    ASSERT_TRUE(kept.ok());
    EXPECT_EQ(kept.value().bytes, bytes);
    EXPECT_EQ(kept.value().facts.kind, "answer");
    EXPECT_EQ(kept.value().facts.about, "an answer");
    EXPECT_EQ(kept.value().facts.madeBy, "1");
    EXPECT_EQ(kept.value().facts.madeMs, 50);
    EXPECT_EQ(kept.value().madeAt, 1'700'000'000);
  }
}

TEST(SharedBlob, ShortenedAtEveryByteAndWithEveryBitFlippedItIsNotTaken) {
  const std::string blob = blobOf("key", "some bytes that are kept");
  for (std::size_t size = 0; size < blob.size(); ++size)
    EXPECT_NE(whyNotOpened(std::string_view(blob).substr(0, size), "key"), "opened") << size;
  EXPECT_NE(whyNotOpened(blob + 'x', "key"), "opened");
  for (std::size_t bit = 0; bit < 8 * blob.size(); ++bit) {
    std::string flipped = blob;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(whyNotOpened(flipped, "key"), "is not signed with this key, or is damaged") << bit;
  }
}

TEST(SharedBlob, OfAnotherTeamOrOfNobodyItIsNotTaken) {
  EXPECT_EQ(whyNotOpened(blobOf("key", "bytes", otherKey()), "key"), "is not signed with this key, or is damaged");
  EXPECT_EQ(whyNotOpened(blobOf("key", "bytes", {}), "key"), "is not signed with this key, or is damaged");
  EXPECT_EQ(whyNotOpened(blobOf("key", "bytes"), "key", {}), "is damaged, or is signed with a key and none is given");
  EXPECT_EQ(whyNotOpened(blobOf("key", "bytes", {}), "key", {}), "opened");
}

TEST(SharedBlob, OfAnotherKeyOrKindItIsNotTaken) {
  EXPECT_EQ(whyNotOpened(blobOf("key", "bytes"), "kez"), "belongs to another entry");
  EXPECT_EQ(whyNotOpened(blobOf("key", "bytes"), "ke"), "belongs to another entry");
  EXPECT_FALSE(openedBlob(blobOf("key", "bytes"), "code", "key", teamKey()).ok());
}

TEST(SharedBlob, OfAnotherVersionItIsNotTakenThoughItIsSigned) {
  for (const char version : {0, 2, 100}) {
    std::string blob = blobOf("key", "bytes");
    blob[8] = version;
    EXPECT_EQ(whyNotOpened(signedAnew(blob), "key"), "has another version");
  }
}

/// Each number of the head is replaced, and signed: what does not fit together is not taken, and nothing is read that
/// is not there.
TEST(SharedBlob, LengthsThatLieAreNotTakenThoughTheyAreSigned) {
  const std::string blob = blobOf("key", "bytes that are kept");
  ASSERT_EQ(whyNotOpened(signedAnew(blob), "key"), "opened");
  for (std::size_t at = 12; at < 48; at += 4)
    for (const std::uint32_t value : {0U, 1U, 0x7fffffffU, 0xffffffffU}) {
      std::string lying = blob;
      std::memcpy(lying.data() + at, &value, sizeof value);
      if (lying != blob) {
        EXPECT_NE(whyNotOpened(signedAnew(lying), "key"), "opened") << at << " " << value;
      }
    }
}

TEST(SharedBlob, NamesAreHashesOfKindAndKey) {
  const std::string name = sharedName("answer", "key");
  EXPECT_EQ(name.size(), 64U);
  EXPECT_EQ(name.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(name, sharedName("answer", "key"));
  EXPECT_NE(name, sharedName("code", "key"));
  EXPECT_NE(name, sharedName("answerk", "ey"));
}

TEST(SigningKeyFile, IsOnlyTakenWhereNobodyElseMayUseIt) {
  const TemporaryFolder folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-key").value();
  const fs::path path = folder / "key";
  writeBytes(path, std::string(32, 'k'));
  for (const int mode : {0600, 0400}) {
    ::chmod(path.c_str(), static_cast<mode_t>(mode));
    const auto key = readSigningKey(path);
    ASSERT_TRUE(key.ok()) << key.error().text();
    EXPECT_EQ(key.value().bytes, std::string(32, 'k'));
  }
  for (const int mode : {0644, 0640, 0660, 0601, 0620}) {
    ::chmod(path.c_str(), static_cast<mode_t>(mode));
    const auto key = readSigningKey(path);
    ASSERT_FALSE(key.ok());
    EXPECT_NE(key.error().message.find("it must have 0600"), std::string::npos);
  }
  ::chmod(path.c_str(), 0600);
  fs::create_symlink(path, folder / "link");
  EXPECT_FALSE(readSigningKey(folder / "link").ok());
  EXPECT_FALSE(readSigningKey(folder.path()).ok());
  EXPECT_FALSE(readSigningKey(folder / "missing").ok());
  writeBytes(path, std::string(31, 'k'));
  EXPECT_NE(readSigningKey(path).error().message.find("must have 32 to"), std::string::npos);
  writeBytes(path, std::string(1 << 17, 'k'));
  EXPECT_FALSE(readSigningKey(path).ok());
}

}  // namespace
}  // namespace fusescope
