#include "vm/base/sha256.h"

#include <string>

#include "gtest/gtest.h"

namespace trivet {
namespace {

TEST(Sha256Test, KnownDigests) {
  // FIPS 180-4 examples (NIST's example values for SHA-256), and the empty message.
  EXPECT_EQ(ToHex(Sha256Of("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(ToHex(Sha256Of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ToHex(Sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(ToHex(Sha256Of(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PiecesDoNotMatter) {
  std::string text;
  for (int i = 0; i < 300; ++i) text.push_back(static_cast<char>(i));
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.Update(absl::string_view(text).substr(0, cut));
    hash.Update(absl::string_view(text).substr(cut));
    ASSERT_EQ(hash.Finish(), Sha256Of(text)) << cut;
  }
}

TEST(Sha256Test, PartsDo) {
  Sha256 one, other;
  one.UpdatePart("ab"), one.UpdatePart("c");
  other.UpdatePart("a"), other.UpdatePart("bc");
  EXPECT_NE(one.Finish(), other.Finish());
}

}  // namespace
}  // namespace trivet
