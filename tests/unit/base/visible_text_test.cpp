#include "base/visible_text.h"

#include <gtest/gtest.h>

#include <ostream>
#include <sstream>

namespace fusescope {
namespace {

TEST(VisibleText, ControlCharactersAreReadable) {
  EXPECT_EQ(visibleText("fc1 é →"), "fc1 é →");
  EXPECT_EQ(visibleText(std::string_view("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(visibleText("\033[2J\a\x7f"), "\\u001b[2J\\u0007\\u007f");
  EXPECT_EQ(visibleText("one\ntwo\t\r"), "one\\ntwo\\t\\r");
  EXPECT_EQ(visibleText("\xc2\x9b"), "\\u009b") << "terminals take it for ESC [";
  EXPECT_EQ(visibleText("\xc2\xa0\xc2"), "\xc2\xa0\xc2");
}

TEST(VisibleText, AStreamKeepsLinesAndWhatTheProgramWrites) {
  std::stringbuf to;
  VisibleBuffer buffer(to, {"\033[1m", "\r\033[K"});
  std::ostream stream(&buffer);
  stream << "\r\033[K\033[1mtitle\033[2J\n"
         << "a\tb" << '\a' << 'c' << std::flush;
  EXPECT_TRUE(stream.good());
  EXPECT_EQ(to.str(), "\r\033[K\033[1mtitle\\u001b[2J\na\tb\\u0007c");
}

}  // namespace
}  // namespace fusescope
