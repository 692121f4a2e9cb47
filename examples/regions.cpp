// SPDX-License-Identifier: GPL-2.0-only
//
// What parts of a C++ program count, each by its name: an object marks the block that it lives in.
// The events are those of PMUCTL_REGIONS in the environment, as "pmuctl stat -e" has them.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <pmuctl_region.h>

class Regions {
public:
	Regions()
	{
		const char *events = std::getenv("PMUCTL_REGIONS") ? nullptr : "instructions:u,branches:u";
		struct pmuctl_explanation why;

		// Without events and PMUCTL_REGIONS nothing is counted, and regions cost nothing.
		if (pmuctl_regions_open(events, &why, &regions) < 0)
			throw std::runtime_error(why.sentence);
	}

	~Regions() { pmuctl_regions_close(regions); }

	Regions(const Regions &) = delete;
	Regions &operator=(const Regions &) = delete;

	// A table of all regions that have ended
	std::string text() const
	{
		char *made = nullptr;
		std::string result;

		if (pmuctl_regions_text(regions, &made) == 0 && made)
			result = made;
		std::free(made);
		return result;
	}

	// From here to the end of the block
	class Region {
	public:
		Region(Regions &of, const char *called) : regions(of.regions), name(called)
		{
			pmuctl_region_begin(regions, name);
		}

		~Region() { pmuctl_region_end(regions, name); }

		Region(const Region &) = delete;
		Region &operator=(const Region &) = delete;

	private:
		struct pmuctl_regions *regions;
		const char *name;
	};

private:
	struct pmuctl_regions *regions = nullptr;
};

int main()
try {
	Regions regions;
	std::vector<unsigned int> numbers;

	{
		Regions::Region region(regions, "fill");

		for (unsigned int i = 0; i < 100000; i++)
			numbers.push_back(i * 2654435761u);
	}
	for (int round = 0; round < 3; round++) {
		Regions::Region region(regions, "sum");
		unsigned long sum = 0;

		for (unsigned int number : numbers)
			sum += number;
		if (sum == 0)
			return EXIT_FAILURE;
	}
	std::fputs(regions.text().c_str(), stdout);
	return EXIT_SUCCESS;
} catch (const std::exception &error) {
	std::fprintf(stderr, "%s\n", error.what());
	return EXIT_FAILURE;
}
