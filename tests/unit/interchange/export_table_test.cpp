// The table of docs/exports.md is made of the rows that the exports have in their files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"

namespace fusescope {
namespace {

std::string exportTable() {
  std::string table = "| format | who reads it | what it contains | how exact it is |\n|---|---|---|---|\n";
  for (std::size_t i = 0; i < exporters().size(); ++i) {
    const ExportRow& row = *exportRows()[i];
    table += fmt::format("| `{}` | {} | {} | {} |\n", exporters()[i]->name, row.readers, row.contents, row.exactness);
  }
  return table;
}

TEST(ExportTable, HasOneRowForEachExport) {
  EXPECT_EQ(exportRows().size(), exporters().size());
  for (const ExportRow* row : exportRows()) {
    EXPECT_FALSE(row->readers.empty() || row->contents.empty() || row->exactness.empty()) << row->contents;
    EXPECT_EQ(row->contents.find('|'), std::string_view::npos) << row->contents;
  }
}

TEST(ExportTable, OfTheDocumentIsMadeOfTheRows) {
  const std::string path = std::string(FUSESCOPE_SOURCE_DIR) + "/docs/exports.md";
  std::string text = readTextFile(path).value();
  const std::size_t begin = text.find("| format |"), end = text.find("\n\n", begin) + 1;
  ASSERT_NE(begin, std::string::npos);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(writeFileAtomically(path, text.replace(begin, end - begin, exportTable())).ok());
    return;
  }
  EXPECT_EQ(text.substr(begin, end - begin), exportTable())
      << "UPDATE_GOLDEN=1 build/tests/unit_interchange --gtest_filter=ExportTable.* writes it anew";
}

}  // namespace
}  // namespace fusescope
