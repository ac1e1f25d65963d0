-- make sql begins with these: the tables of an output as views, so that queries read the same for folders and for a catalog. Those whose
-- tables are not there are left out (conf/views.sh). The three that every output has come last.
CREATE OR REPLACE TEMPORARY VIEW published USING delta OPTIONS (path '${output}/published');
CREATE OR REPLACE TEMPORARY VIEW pages USING delta OPTIONS (path '${output}/pages');
CREATE OR REPLACE TEMPORARY VIEW blocks USING delta OPTIONS (path '${output}/blocks');
CREATE OR REPLACE TEMPORARY VIEW labels USING delta OPTIONS (path '${output}/labels');
-- A row a block: its number, as in simplified_html, and whether it is main content.
CREATE OR REPLACE TEMPORARY VIEW block_labels AS SELECT b.page_id, i.item_id, l.main[i.pos] AS main, l.probability[i.pos] AS probability FROM blocks b JOIN labels l ON l.page_id = b.page_id AND l.batch = b.batch LATERAL VIEW posexplode(b.item_ids) i AS pos, item_id WHERE l.main IS NOT NULL;
CREATE OR REPLACE TEMPORARY VIEW layouts USING delta OPTIONS (path '${output}/layouts');
CREATE OR REPLACE TEMPORARY VIEW evaluations USING delta OPTIONS (path '${output}/evaluations');
CREATE OR REPLACE TEMPORARY VIEW forgotten USING delta OPTIONS (path '${output}/forgotten');
CREATE OR REPLACE TEMPORARY VIEW relocated USING delta OPTIONS (path '${output}/relocated');
CREATE OR REPLACE TEMPORARY VIEW extractions USING delta OPTIONS (path '${output}/extractions');
CREATE OR REPLACE TEMPORARY VIEW warc_files USING delta OPTIONS (path '${output}/warc_files');
CREATE OR REPLACE TEMPORARY VIEW runs USING delta OPTIONS (path '${output}/runs');
